//! `mcp`: verbs that only read, as tools of the Model Context Protocol. The grammar of the command line says
//! what they are and take; what they answer is what `--json` prints.

use crate::args::Arguments;
use crate::output::kept;
use crate::target::Style;
use crate::verb::{Description, Pages, Verb};
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
        let verbs = (style.verbs)().into_iter().filter(|verb| verb.read.is_some());
        let verbs: Vec<&Description> = verbs.collect();
        let tools = verbs.iter().map(|verb| tool(&own(verb))).collect();
        let (calls, called) = channel();
        let serving = std::thread::spawn(move || serve(Server { tools, calls }));
        answer(&called, &verbs, (target, style));
        let served =
            serving.join().map_err(|_| Failure::Internal("mcp: its thread ended".into()))?;
        served.map(|()| Outcome::Healthy).map_err(|why| Failure::Usage(format!("mcp: {why}")))
    }
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
fn answer(called: &Receiver<Call>, verbs: &[&Description], on: (&Opening, Style)) {
    for (call, result) in called {
        let verb = verbs.iter().find(|verb| verb.name == call.name);
        let none = || Failure::Usage(format!("there is no tool `{}`", call.name));
        let (done, text) = kept(|| {
            verb.ok_or_else(none).and_then(|verb| {
                let matches = parse(verb, &call.arguments.unwrap_or_default())?;
                verb.read.map_or(Ok(Outcome::Healthy), |read| read(&matches, on.0, on.1))
            })
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

/// The verb alone, without the global options: nothing is permitted by a call.
fn own(verb: &Description) -> Command {
    (verb.grammar)(Command::new(verb.name).no_binary_name(true))
}

/// The verb with the global options, to which some of its own refer.
fn whole(verb: &Description) -> Command {
    let mut grammar = Arguments::augment_args(own(verb));
    grammar.build();
    grammar
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

fn tool(grammar: &Command) -> Tool {
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
    let tool = Tool::new(grammar.get_name().to_owned(), about, schema);
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

/// Parses a call by the grammar of the command line.
fn parse(verb: &Description, call: &JsonObject) -> Result<ArgMatches, Failure> {
    let (own, grammar) = (own(verb), whole(verb));
    let (mut options, mut places) = (Vec::new(), Vec::new());
    for (name, value) in call {
        let unknown = || Failure::Usage(format!("there is no argument `{name}`"));
        let is_own = arguments(&own).any(|arg| arg.get_id() == name);
        let arg = grammar.get_arguments().find(|arg| is_own && arg.get_id() == name);
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
    match matches.subcommand_name() {
        Some(name) => Err(Failure::Usage(format!("`{name}` is no part of this tool"))),
        None => Ok(matches),
    }
}
