//! A stand-in for the models' APIs on loopback: plays conversations that were written down before,
//! and remembers what it was told.

mod generate;
mod http;
mod messages;
mod responses;

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What the model says in one turn.
#[derive(Clone, Debug)]
pub(crate) enum Turn {
    /// Words, and the turn is over.
    Say(String),
    /// Calls of tools, all at once.
    Call(Vec<Call>),
    /// An object, by whatever way the asker wants one.
    Object(Value),
}

/// A call of a tool, in the agent's own words.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) input: Input,
}

/// What a tool is given.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    Object(Value),
    /// Codex gives some tools plain text.
    Text(String),
}

/// A conversation: whoever's request has the `sign` in it gets these turns, one after the other,
/// and at their end the word "Done.".
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) sign: String,
    pub(crate) turns: Vec<Turn>,
}

/// The model.
pub(crate) struct Model {
    pub(crate) port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
}

/// A request of a conversation.
#[derive(Clone, Debug)]
struct Heard {
    sign: String,
    texts: Vec<String>,
}

impl Model {
    /// Plays these conversations; the first whose sign is found is meant.
    pub(crate) fn play(conversations: Vec<Conversation>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let stage = Stage {
            conversations,
            heard: Arc::clone(&heard),
        };
        let stage = Arc::new(stage);
        // It ends with the process; a test has one of its own.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let stage = Arc::clone(&stage);
                std::thread::spawn(move || stage.serve(stream));
            }
        });
        Self { port, heard }
    }

    /// How often the model was asked to go on with a conversation.
    pub(crate) fn count(&self, sign: &str) -> usize {
        self.of(sign).len()
    }

    /// What each request of a conversation said that the one before did not.
    pub(crate) fn news(&self, sign: &str) -> Vec<String> {
        let requests = self.of(sign);
        let mut before: &[String] = &[];
        let mut news = Vec::new();
        for request in &requests {
            let mut known = before.to_vec();
            let fresh = request.iter().filter(|text| {
                let at = known.iter().position(|old| old == *text);
                at.map(|at| known.swap_remove(at)).is_none()
            });
            news.push(fresh.cloned().collect::<Vec<_>>().join("\n"));
            before = request;
        }
        news
    }

    fn of(&self, sign: &str) -> Vec<Vec<String>> {
        let heard = self.heard.lock().unwrap();
        let requests = heard.iter().filter(|heard| heard.sign == sign);
        requests.map(|heard| heard.texts.clone()).collect()
    }
}

struct Stage {
    conversations: Vec<Conversation>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Stage {
    fn serve(&self, stream: TcpStream) {
        let Ok(mut connection) = http::Connection::new(stream) else {
            return;
        };
        while let Some((path, body)) = connection.request() {
            let answer = self.answer(&path, &body);
            if connection.give(&answer).is_err() {
                return;
            }
        }
    }

    fn answer(&self, path: &str, body: &str) -> http::Reply {
        let request: Value = serde_json::from_str(body).unwrap_or_default();
        if path.contains("count") && path.contains("okens") {
            return http::Reply::Json(json!({ "input_tokens": 10, "totalTokens": 10 }));
        }
        if path.contains("/messages") {
            return messages::answer(
                &request,
                &self.next(&request, messages::has_tools(&request)),
            );
        }
        if path.ends_with("/responses") {
            return responses::answer(&self.next(&request, true));
        }
        if path.contains("enerateContent") {
            let turn = self.next(&request, generate::has_tools(&request));
            return generate::answer(path, &turn);
        }
        http::Reply::Json(json!({}))
    }

    /// The next turn. Without tools it is a side question, such as for a title.
    fn next(&self, request: &Value, has_tools: bool) -> Turn {
        let mut texts = Vec::new();
        leaves(request, &mut texts);
        let mut heard = self.heard.lock().unwrap();
        let is_meant = |conversation: &&Conversation| {
            let sign = &conversation.sign;
            texts.iter().any(|text| text.contains(sign.as_str()))
        };
        let conversation = self.conversations.iter().find(is_meant);
        let Some(conversation) = conversation.filter(|_| has_tools) else {
            return Turn::Say("A title".to_owned());
        };
        let sign = conversation.sign.clone();
        let played = heard.iter().filter(|heard| heard.sign == sign).count();
        heard.push(Heard { sign, texts });
        let turn = conversation.turns.get(played).cloned();
        turn.unwrap_or_else(|| Turn::Say("Done.".to_owned()))
    }
}

/// Every text in a value.
fn leaves(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, texts)),
        Value::Object(members) => members.values().for_each(|value| leaves(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
