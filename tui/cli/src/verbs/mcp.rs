//! `mcp`: verbs that only read, as tools of the Model Context Protocol. The grammar of the command line says
//! what they are and take; what they answer is what `--json` prints.

use crate::args::Arguments;
use crate::output::kept;
use crate::target::Style;
use crate::verb::{Description, Pages, Reader, Verb};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, ValueHint};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use console::words::one_line;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

/// Serve verbs that only read as tools of the Model Context Protocol, on standard input and output.
#[derive(clap::Args, Debug)]
pub(crate) struct McpArguments {}

impl Verb for McpArguments {
    const NAME: &str = "mcp";
    const PAGES: Pages = &[("mcp", include_str!("../manual/verbs/mcp.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("mcp")
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        let style = Style { json: true, ..style };
        let offers: Vec<Offer> = (style.verbs)().into_iter().flat_map(offers).collect();
        let tools = offers.iter().map(tool).collect();
        let (calls, called) = channel();
        let serving = std::thread::spawn(move || serve(Server { tools, calls }));
        answer(&called, &offers, (target, style));
        let served =
            serving.join().map_err(|_| Failure::Internal("mcp: its thread ended".into()))?;
        served.map(|()| Outcome::Healthy).map_err(|why| Failure::Usage(format!("mcp: {why}")))
    }
}

/// A tool: a verb, or one of its subcommands.
struct Offer {
    name: String,
    verb: &'static Description,
    reader: &'static Reader,
    subcommand: Option<String>,
    /// What it takes, without the global options: nothing is permitted by a call.
    own: Command,
}

/// Returns the tools of a verb.
fn offers(verb: &'static Description) -> Vec<Offer> {
    let Some(reader) = &verb.read else { return Vec::new() };
    let own = (verb.grammar)(Command::new(verb.name).no_binary_name(true));
    let mut offers = Vec::new();
    for part in own.get_subcommands().filter(|part| !reader.changes.contains(&part.get_name())) {
        let name = part.get_name().to_owned();
        let own = part.clone();
        let name_of_both = format!("{}-{name}", verb.name);
        offers.push(Offer { name: name_of_both, verb, reader, subcommand: Some(name), own });
    }
    if !own.is_subcommand_required_set() {
        offers.push(Offer { name: verb.name.to_owned(), verb, reader, subcommand: None, own });
    }
    offers
}

/// A call, and where its result goes.
type Call = (CallToolRequestParams, oneshot::Sender<CallToolResult>);

struct Server {
    tools: Vec<Tool>,
    /// To the thread that carries out verbs.
    calls: Sender<Call>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("meshscope", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (result, done) = oneshot::channel();
        let gone = || ErrorData::internal_error("the server is ending", None);
        self.calls.send((call, result)).map_err(|_| gone())?;
        done.await.map(CallToolResponse::from).map_err(|_| gone())
    }
}

/// Serves until the client closes standard input.
fn serve(server: Server) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let served = runtime.block_on(async {
        let running = server.serve(rmcp::transport::stdio()).await;
        running.map_err(|error| error.to_string())?.waiting().await.map_err(|it| it.to_string())
    });
    // A read of standard input may not end.
    runtime.shutdown_background();
    served.map(drop)
}

/// Carries out calls, one at a time, on a target that is opened for each.
fn answer(called: &Receiver<Call>, offers: &[Offer], on: (&Opening, Style)) {
    for (call, result) in called {
        let offer = offers.iter().find(|offer| offer.name == call.name);
        let none = || Failure::Usage(format!("there is no tool `{}`", call.name));
        let (done, text) = kept(|| {
            let offer = offer.ok_or_else(none)?;
            let matches = parse(offer, &call.arguments.unwrap_or_default())?;
            (offer.reader.call)(&matches, on.0, on.1)
        });
        let answered = match done {
            Ok(_) => {
                let mut answer = CallToolResult::success(vec![ContentBlock::text(text.trim_end())]);
                answer.structured_content = serde_json::from_str(&text).ok();
                answer
            }
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why.to_string())]),
        };
        // A client that is gone needs no answer.
        let _ = result.send(answered);
    }
}

/// What a call may say: a call writes no file.
fn arguments(grammar: &Command) -> impl Iterator<Item = &Arg> {
    let takes = |arg: &&Arg| {
        let helps = matches!(
            arg.get_action(),
            ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort
        );
        !helps && arg.get_value_hint() != ValueHint::AnyPath
    };
    grammar.get_arguments().filter(takes)
}

fn tool(Offer { name, own: grammar, .. }: &Offer) -> Tool {
    let mut properties = JsonObject::new();
    for arg in arguments(grammar) {
        properties.insert(arg.get_id().to_string(), property(arg));
    }
    let required = arguments(grammar).filter(|arg| arg.is_required_set());
    let required: Vec<&str> = required.map(|arg| arg.get_id().as_str()).collect();
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema.insert("required".into(), required.into());
    schema.insert("additionalProperties".into(), false.into());
    let about = grammar.get_long_about().or_else(|| grammar.get_about());
    let about = about.map_or_else(String::new, ToString::to_string);
    let tool = Tool::new(name.clone(), about, schema);
    tool.with_annotations(ToolAnnotations::new().read_only(true))
}

fn property(arg: &Arg) -> Value {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let about = help.map_or_else(String::new, ToString::to_string);
    if !arg.get_action().takes_values() {
        return json!({"type": "boolean", "description": about});
    }
    let mut one = json!({"type": "string"});
    let names = arg.get_possible_values();
    if !names.is_empty() {
        one["enum"] = names.iter().map(|it| Value::from(it.get_name())).collect();
    }
    let mut property = if is_list(arg) { json!({"type": "array", "items": one}) } else { one };
    property["description"] = about.into();
    if let [default] = arg.get_default_values() {
        property["default"] = default.to_string_lossy().into();
    }
    property
}

fn is_list(arg: &Arg) -> bool {
    let many = arg.get_num_args().is_some_and(|count| count.max_values() > 1);
    many || matches!(arg.get_action(), ArgAction::Append)
}

/// Parses a call by the grammar of the command line, with the global options, to which some of a verb's
/// own refer.
fn parse(offer: &Offer, call: &JsonObject) -> Result<ArgMatches, Failure> {
    let verb = offer.verb;
    let grammar = (verb.grammar)(Command::new(verb.name).no_binary_name(true));
    let mut grammar = Arguments::augment_args(grammar);
    grammar.build();
    let part = offer.subcommand.as_ref().and_then(|name| grammar.find_subcommand(name));
    let part = part.unwrap_or(&grammar);
    let (mut options, mut places) = (Vec::from_iter(offer.subcommand.clone()), Vec::new());
    for (name, value) in call {
        let unknown = || Failure::Usage(format!("there is no argument `{name}`"));
        let is_own = arguments(&offer.own).any(|arg| arg.get_id() == name);
        let arg = part.get_arguments().find(|arg| is_own && arg.get_id() == name);
        let arg = arg.ok_or_else(unknown)?;
        let one = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let values: Vec<String> = match value {
            Value::Null | Value::Bool(false) => continue,
            Value::Array(values) => values.iter().map(one).collect(),
            value => vec![one(value)],
        };
        match (arg.get_index(), arg.get_long()) {
            (Some(index), _) => places.push((index, values)),
            (None, Some(long)) if arg.get_action().takes_values() => {
                options.extend(values.iter().map(|value| format!("--{long}={value}")));
            }
            (None, long) => options.extend(long.map(|long| format!("--{long}"))),
        }
    }
    places.sort_by_key(|(index, _)| *index);
    options.push("--".to_owned());
    options.extend(places.into_iter().flat_map(|(_, values)| values));
    let usage = |error: clap::Error| Failure::Usage(one_line(&error.render().to_string()));
    let matches = grammar.try_get_matches_from(options).map_err(usage)?;
    match (matches.subcommand_name(), &offer.subcommand) {
        (Some(name), None) => Err(Failure::Usage(format!("`{name}` is no part of this tool"))),
        _ => Ok(matches),
    }
}
