//! `print`: the value of an expression on one core, by the names of the images that run there.

mod answer;
mod preview;

pub(super) use preview::preview;

use crate::output::{json, say, text};
use crate::shape::Printed;
use crate::shape::schema;
use crate::target::{Style, core_of, open};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches};
use answer::{Answer, answer};
use console::exit::{Failure, Outcome};
use console::found::{Found, Unread, Value};
use console::locate::{self, Where};
use console::machine::Opening;
use console::words;
use images::{Image, ResolvedPointer};
use layouts::CoreId;
use machine::snapshot::AccessError;
use machine::target::Mesh;
use symbols::{Expression, Record, Storage, Type};

/// Print the value of an expression on a core, by the names of the firmware that runs there.
///
/// Names are looked up in the images of the core: kernels first, then the application, then
/// base firmware. Memory is read as the core sees it; a pointer is followed only where the
/// expression dereferences it.
#[derive(clap::Args, Debug)]
pub(crate) struct PrintArguments {
    /// The core: 0:e8, 0:9-6 or 0:1-2:trisc0; without a core's name the first of the tile.
    pub(crate) core: String,
    /// C++, such as 'mailboxes->go_messages[0]', '*p', '&x' or 'go_msg_t@0x3e1e0'; IMAGE::name
    /// names the image.
    pub(crate) expression: String,
    /// Only this image.
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
}

impl Verb for PrintArguments {
    const NAME: &str = "print";
    const PAGES: Pages = &[("print", include_str!("../manual/verbs/print.md"))];
    const SCHEMAS: Schemas = &[("print", schema::<Printed<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("print")
    }
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|verb, opening| {
        let question = verb.question()?;
        // Only a snapshot shows which files of a directory run there.
        let more = !opening.options.elfs.is_empty();
        Ok(Some(Box::new(move |machine| preview(machine, &question, more))))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, &self.question()?)
    }
}

impl PrintArguments {
    fn question(&self) -> Result<Question, Failure> {
        Question::of(&self.core, &self.expression, self.image.as_deref())
    }
}

/// A parsed request; parsing needs no target.
pub(super) struct Question {
    place: Where,
    text: String,
    expression: Expression,
    image: Option<String>,
}

impl Question {
    /// Parses the arguments.
    pub(super) fn of(core: &str, text: &str, image: Option<&str>) -> Result<Self, Failure> {
        let place = locate::core(core).map_err(Failure::Usage)?;
        if text.trim().is_empty() {
            return Err(Failure::Usage(
                "the expression is empty: give one, such as mailboxes".into(),
            ));
        }
        let wrong = |e| Failure::Usage(format!("{text}: {e}"));
        let expression = Expression::parse(text).map_err(wrong)?;
        Ok(Self { place, text: text.to_owned(), expression, image: image.map(str::to_owned) })
    }

    /// The named core.
    fn core(&self, mesh: &Mesh) -> Result<CoreId, Failure> {
        core_of(self.place, mesh)
    }

    /// The images to search, kernels first, and the expression without the name of an image.
    fn search<'i, T>(
        &self,
        core: CoreId,
        mut on: Vec<T>,
        image: impl Fn(&T) -> &'i Image,
    ) -> Result<(Vec<T>, Expression), Failure> {
        let (mut wanted, mut expression) = (self.image.as_deref(), self.expression.clone());
        if let (None, Some((name, rest))) = (wanted, self.text.split_once("::"))
            && on.iter().any(|load| image(load).name == name)
        {
            let wrong = |e| Failure::Usage(format!("{rest}: {e}"));
            (wanted, expression) = (Some(name), Expression::parse(rest).map_err(wrong)?);
        }
        if on.is_empty() {
            return Err(Failure::Usage(format!("{core}: the images on it are not known")));
        }
        if let Some(wanted) = wanted {
            let names: Vec<_> = on.iter().map(|load| image(load).name.clone()).collect();
            on.retain(|load| image(load).name == wanted);
            if on.is_empty() {
                let names = names.join(", ");
                return Err(Failure::Usage(format!("{core} runs no {wanted}; it runs {names}")));
            }
        }
        Ok((on, expression))
    }
}

/// Prints the value.
pub(super) fn run(target: &Opening, style: Style, question: &Question) -> Result<Outcome, Failure> {
    let mut machine = open(target)?;
    let core = question.core(&machine.mesh())?;
    let session = machine.session();
    session.verify_on(core);
    let (target, images) = session.parts();
    for finding in images.findings(core, &|_| true) {
        say(&finding.to_string());
    }
    let (on, expression) = question.search(core, images.resolved(core), |load| load.image)?;
    let Answer { load, found, pointer } = answer(target, core, &on, &expression)?;
    let printed = Printed::new(core, load.image, &question.text, &found);
    if style.json {
        json(printed)?;
        if let Some(pointer) = &pointer {
            say(&format!("{core}: {pointer}"));
        }
    } else {
        let by = format!("{}, {}", load.image.name, words::evidence(load.evidence));
        text(&lines(&question.text, &found, pointer.as_ref(), &by))?;
    }
    let Value::Missing(why) = &found.value else { return Ok(Outcome::Healthy) };
    match why {
        Unread::Access(error @ AccessError::Refused(_)) => {
            Err(Failure::of_access(&core.to_string(), error))
        }
        Unread::Access(AccessError::NotRecorded | AccessError::NotRequested)
        | Unread::Nowhere(_)
        | Unread::Unmapped(_) => {
            say(&format!("{core}: {why}"));
            Ok(Outcome::Partial)
        }
        Unread::Access(error) => Err(Failure::of_access(&core.to_string(), error)),
    }
}

fn lines(
    expression: &str,
    found: &Found,
    pointer: Option<&ResolvedPointer>,
    image: &str,
) -> String {
    let value = match &found.value {
        Value::Known(value) => value.to_string(),
        Value::Missing(_) => "?".to_owned(),
    };
    let place = match &found.storage {
        Storage::Address(at) => format!("at {at:#x}"),
        Storage::Constant(_) if pointer.is_some() => "computed".to_owned(),
        Storage::Constant(_) => "a constant of the debug information".to_owned(),
        elsewhere => elsewhere.to_string(),
    };
    let size = found.size.map_or_else(String::new, |size| format!(", {size} bytes"));
    let source = pointer.map_or_else(String::new, |pointer| format!("  {pointer}\n"));
    let bases = found.ty.as_ref().and_then(Type::record).map(Record::all_virtual_bases);
    let bases = bases.unwrap_or_default().into_iter();
    let without = bases.map(|base| {
        format!("  without its virtual base {base}: its place depends on the vtable\n")
    });
    let without: String = without.collect();
    format!(
        "{expression} = ({}) {value}\n  {place}{size}, by {image}\n{source}{without}",
        found.type_name()
    )
}
