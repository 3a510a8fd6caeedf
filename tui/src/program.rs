//! The program: the command line, with the screens of this crate.

use crate::keys::Keys;
use crate::model::Model;
use crate::settings::Settings;
use crate::theme::Theme;
use crate::{help, picture, screen};
use cli::{Drawn, Looks, Picture, Screens, TourStep};
use console::exit::{Failure, Outcome};
use console::feed::Feed;
use console::glyph::Glyphs;
use console::machine::{Machine, Opening};
use diagnosis::Diagnosis;
use std::ffi::OsString;
use std::sync::Arc;

/// Columns of the page `keys`.
const WIDTH: u16 = 80;

/// Runs the program and returns its exit code; an error is one line on standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    cli::run(arguments, &LiveView)
}

/// The screens of the live view.
struct LiveView;

impl Screens for LiveView {
    fn show(
        &self,
        opening: Opening,
        Looks { color, glyphs }: Looks,
        tour: &'static [TourStep],
    ) -> Result<Outcome, Failure> {
        let size = crossterm::terminal::size().unwrap_or((80, 24));
        let mut model = Model::new(&opening.words, Theme::new(color), glyphs, size);
        model.tour = tour;
        match Settings::of_person() {
            Ok(Settings { keys, palette }) => {
                (model.keys, model.theme) = (keys, model.theme.with(palette));
            }
            // It is seen in the first frame, and after the program too.
            Err(why) => {
                cli::say(&why);
                model.notice = Some(format!("{why}; the usual keys and colours are used"));
            }
        }
        // The probe thread opens the target, so that the terminal responds meanwhile.
        let feed = Feed::start(move |listener| Machine::open(&opening, listener))
            .map_err(|e| Failure::Internal(format!("probe thread: {e}")))?;
        screen::run(model, feed, &Self)
    }

    fn draw(
        &self,
        picture: &Picture,
        machine: &mut Machine,
        words: &str,
        verdict: &Arc<Diagnosis>,
    ) -> Drawn {
        picture::draw(picture, machine, words, verdict)
    }

    fn keys(&self) -> String {
        let lines =
            help::lines(&Keys::default(), (Theme::new(false), Glyphs { ascii: false }), WIDTH);
        lines.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n")
    }
}
