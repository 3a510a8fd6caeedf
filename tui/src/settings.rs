//! What a person has chosen: keys and colours, in a TOML file of theirs.

use crate::keys::{Chord, Keys, action_names};
use crate::theme::{Meaning, Palette};
use files::Kind;
use ratatui::style::Color;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;
use strum::VariantNames;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The name of the file in the folder of settings.
pub(crate) const FILE: &str = "config.toml";

/// Keys and colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) keys: Keys,
    pub(crate) palette: Palette,
}

impl Default for Settings {
    fn default() -> Self {
        Self { keys: Keys::default(), palette: Palette::DARK }
    }
}

/// Why a setting is refused, and where it stands in the text.
type Refused = (String, Range<usize>);

impl Settings {
    /// The settings of the person who runs the program: the usual ones without a file.
    ///
    /// # Errors
    /// One sentence about the first thing in it that is refused, with its place.
    pub(crate) fn of_person() -> Result<Self, String> {
        let file = files::settings_folder().map(|folder| folder.join(FILE));
        file.filter(|file| file.exists())
            .map_or_else(|| Ok(Self::default()), |file| Self::of(&file))
    }

    fn of(file: &Path) -> Result<Self, String> {
        let text = files::read_text(file, Kind::SETTINGS).map_err(|why| why.to_string())?;
        Self::parse(&text).map_err(|(why, at)| {
            let before = text.get(..at.start).unwrap_or(&text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
            format!("{}:{line}:{column}: {why}", file.display())
        })
    }

    fn parse(text: &str) -> Result<Self, Refused> {
        let table = DeTable::parse(text)
            .map_err(|error| (error.message().to_owned(), error.span().unwrap_or_default()))?;
        let mut settings = Self::default();
        let table = table.into_inner();
        // Colours change those of the theme, wherever it is named.
        if let Some(theme) = table.get("theme") {
            settings.palette = match word(theme)? {
                "dark" => Palette::DARK,
                "light" => Palette::LIGHT,
                other => {
                    return Err((
                        format!("the theme is dark or light, not `{other}`"),
                        theme.span(),
                    ));
                }
            };
        }
        for (key, value) in &table {
            match &**key.get_ref() {
                "theme" => {}
                "colors" => settings.take_colors(value)?,
                "keys" => settings.take_keys(value)?,
                other => {
                    let why = format!("there is no setting `{other}`, but theme, colors and keys");
                    return Err((why, key.span()));
                }
            }
        }
        Ok(settings)
    }

    fn take_colors(&mut self, colors: &Spanned<DeValue<'_>>) -> Result<(), Refused> {
        for (key, value) in members(colors)? {
            let meaning = Meaning::from_str(key.get_ref()).map_err(|_| {
                let all = Meaning::VARIANTS.join(", ");
                (format!("no colour means `{}`, but {all}", key.get_ref()), key.span())
            })?;
            let name = word(value)?;
            let color = Color::from_str(name).map_err(|_| {
                let why = format!("`{name}` is no colour: a name, 0 to 255, or #rrggbb");
                (why, value.span())
            })?;
            self.palette.set(meaning, color);
        }
        Ok(())
    }

    fn take_keys(&mut self, keys: &Spanned<DeValue<'_>>) -> Result<(), Refused> {
        for (key, value) in members(keys)? {
            let name = key.get_ref();
            let action = action_names().find(|(own, _)| own == name);
            let (_, action) = action.ok_or_else(|| {
                let all: Vec<_> = action_names().map(|(name, _)| name).collect();
                (format!("nothing is named `{name}`, but {}", all.join(", ")), key.span())
            })?;
            let items = match value.get_ref() {
                DeValue::Array(items) => items.iter().collect(),
                _ => vec![value],
            };
            let chord = |item: &Spanned<DeValue<'_>>| {
                let name = word(item)?;
                let unknown =
                    || (format!("`{name}` is no key, as p, Ctrl-p, F2 and PgUp are"), item.span());
                Chord::parse(name).ok_or_else(unknown)
            };
            let chords = items.into_iter().map(chord).collect::<Result<_, _>>()?;
            let given = self.keys.give(action, chords);
            given.map_err(|other| {
                (format!("a key of {name} is that of {other} too"), value.span())
            })?;
        }
        Ok(())
    }
}

fn word<'a>(value: &'a Spanned<DeValue<'_>>) -> Result<&'a str, Refused> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text),
        _ => Err(("a text in quotes is expected".to_owned(), value.span())),
    }
}

fn members<'a, 'b>(value: &'a Spanned<DeValue<'b>>) -> Result<&'a DeTable<'b>, Refused> {
    match value.get_ref() {
        DeValue::Table(table) => Ok(table),
        _ => Err(("a table is expected".to_owned(), value.span())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::keys::Action;
    use crate::panes::Screen;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    fn refused(text: &str) -> String {
        let (why, at) = Settings::parse(text).unwrap_err();
        format!("{}: {why}", at.start)
    }

    #[test]
    fn keys_and_colours_are_those_of_the_file() {
        let text = "theme = \"light\"\n[keys]\nmark = [\"b\", \"F2\"]\npause = \"w\"\nquit = []\n\
                    [colors]\ngood = \"#00ff80\"\ncold1 = \"light-blue\"\n";
        let Settings { keys, palette } = Settings::parse(text).unwrap();
        let mut wanted = Palette::LIGHT;
        wanted.set(Meaning::Good, Color::Rgb(0, 255, 128));
        wanted.set(Meaning::Cold1, Color::LightBlue);
        assert_eq!(palette, wanted);
        let looked = |code| keys.lookup(&KeyEvent::new(code, KeyModifiers::NONE), Screen::Mesh);
        assert_eq!(looked(KeyCode::Char('b')), Some(Action::Mark));
        assert_eq!(looked(KeyCode::F(2)), Some(Action::Mark));
        assert_eq!(looked(KeyCode::Char('m')), None);
        assert_eq!(looked(KeyCode::Char('w')), Some(Action::Pause), "a person's key comes first");
        assert_eq!(looked(KeyCode::Char('q')), None);
        assert_eq!(keys.of(Action::Mark), "b F2");
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
    }

    #[test]
    fn what_is_refused_is_named_with_its_place() {
        for (text, says) in [
            ("them = \"dark\"", "0: there is no setting `them`"),
            ("theme = \"blue\"", "8: the theme is dark or light, not `blue`"),
            ("theme = 3", "8: a text in quotes is expected"),
            ("keys = 3", "7: a table is expected"),
            ("[colors]\ngod = \"red\"", "9: no colour means `god`, but good, warn, "),
            ("[colors]\ngood = \"reddish\"", "16: `reddish` is no colour: "),
            ("[keys]\nmarc = \"b\"", "7: nothing is named `marc`, but why, enter, "),
            ("[keys]\nmark = \"Hyper-b\"", "14: `Hyper-b` is no key, "),
            ("[keys]\nmark = \"b\"\npause = \"b\"", "26: a key of pause is that of mark too"),
            ("[keys", "5: "),
        ] {
            let refused = refused(text);
            assert!(refused.starts_with(says), "{text}: {refused}");
        }
    }
}
