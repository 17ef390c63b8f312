//! One HTTP request: which commands it holds, and what comes of them.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{Method, Request, Response, StatusCode, request::Parts},
};
use redis::Cmd;

use crate::{
    answer::{self, Refusal},
    backend::{Backend, Unreachable},
    body::{self, Held, Room},
    catalogue, head,
    parse::{self, Words},
    reply::{self, Encoding, Reply},
    scripts::{Rewrite, Scripts},
    token::{Access, Tokens},
};

/// Everything that requests share.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) backend: Backend,
    pub(crate) tokens: Tokens,
    pub(crate) scripts: Scripts,
    pub(crate) most_body_bytes: usize,
    pub(crate) room: Room,
}

pub(crate) fn router(service: Arc<Service>) -> Router {
    // One handler: everything but three paths is a command, and every error is JSON.
    Router::new().fallback(handle).with_state(service)
}

async fn handle(State(service): State<Arc<Service>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    match service.answer(&head, body).await {
        Ok((status, body)) => answer::respond(status, body),
        Err(refusal) => refusal.into_response(),
    }
}

/// What few answers exceed, in bytes: room for it is made at once.
const USUAL_ANSWER: usize = 128;

type Answer = Result<(StatusCode, Vec<u8>), Refusal>;

impl Service {
    async fn answer(&self, head: &Parts, body: Body) -> Answer {
        let has_body = match head.method {
            Method::POST | Method::PUT => true,
            Method::GET | Method::HEAD => false,
            _ => {
                let text = "ERR method not allowed: only GET, POST and PUT are";
                return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text));
            }
        };
        // A base URL that ends in a slash makes paths that begin with two.
        let path = head.uri.path().trim_start_matches('/');
        if path.is_empty() && !has_body {
            return Ok((StatusCode::OK, br#"{"status":"ok"}"#.to_vec()));
        }
        if head.method == Method::HEAD {
            // It must change nothing, and a command may.
            let text = "ERR method not allowed: HEAD is for / alone";
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text));
        }
        head::check_size(&head.headers)?;
        let access = head::access(head, &self.tokens)?;
        let encoding = head::encoding(&head.headers)?;
        let held = if has_body {
            body::read(&head.headers, body, self.most_body_bytes, &self.room).await?
        } else {
            Held::nothing()
        };
        // Its part of the room is given back with the answer.
        let body = &held.bytes;
        let words = match path.trim_end_matches('/') {
            "" => parse::command(body)?,
            "pipeline" | "multi-exec" if !has_body => {
                let text = format!("ERR /{path} takes a POST");
                return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text));
            }
            // Their states are larger than that of a single command, which is most of what comes.
            "pipeline" => return Box::pin(self.pipeline(parse::commands(body)?, access, encoding)).await,
            "multi-exec" => return Box::pin(self.multi_exec(parse::commands(body)?, access, encoding)).await,
            _ => parse::path(path, body, head.uri.query().unwrap_or_default())?,
        };
        self.single(words, access, encoding).await
    }

    async fn single(&self, words: Words<'_>, access: Access, encoding: Encoding) -> Answer {
        let _part = self.room.for_commands(1, words.len())?;
        let (command, rewrite) = match self.prepare(words, access) {
            Ok(prepared) => prepared,
            Err(text) => return Err(Refusal::new(StatusCode::BAD_REQUEST, text)),
        };
        let reply = rewrite.undo(self.backend.run_one(&command).await?);
        let status = if reply.is_ok() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        let mut out = Vec::with_capacity(USUAL_ANSWER);
        reply::write(&mut out, &reply, encoding);
        Ok((status, out))
    }

    async fn pipeline(&self, items: Vec<Words<'_>>, access: Access, encoding: Encoding) -> Answer {
        let _part = self.room.for_commands(items.len(), items.iter().map(Vec::len).sum())?;
        let (mut commands, mut prepared) = (Vec::new(), Vec::new());
        for words in items {
            prepared.push(self.prepare(words, access).map(|(command, rewrite)| {
                commands.push(command);
                rewrite
            }));
        }
        let mut replies = Vec::new().into_iter();
        if !commands.is_empty() {
            replies = self.backend.run(commands).await?.into_iter();
        }
        let replies = prepared.into_iter().map(|prepared| {
            let rewrite = prepared?;
            rewrite.undo(replies.next().unwrap_or_else(|| Err(Unreachable::Garbled.text().to_owned())))
        });
        Ok((StatusCode::OK, written(replies, encoding)))
    }

    async fn multi_exec(&self, items: Vec<Words<'_>>, access: Access, encoding: Encoding) -> Answer {
        let _part = self.room.for_commands(items.len(), items.iter().map(Vec::len).sum())?;
        let discarded = |text: String| Refusal::new(StatusCode::BAD_REQUEST, text);
        let prepared = items.into_iter().map(|words| self.prepare(words, access));
        let prepared: Vec<_> = prepared.collect::<Result<_, _>>().map_err(discarded)?;
        let (commands, rewrites): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
        let replies = self.backend.transact(commands).await?.map_err(discarded)?;
        let replies = rewrites.iter().zip(replies).map(|(rewrite, reply)| rewrite.undo(reply));
        Ok((StatusCode::OK, written(replies, encoding)))
    }

    /// A command as Redis gets it, or the error that the client gets instead.
    fn prepare(&self, mut words: Words<'_>, access: Access) -> Result<(Cmd, Rewrite), String> {
        if let Some(text) = catalogue::refusal(&words, access) {
            return Err(text);
        }
        let rewrite = self.scripts.rewrite(&mut words);
        let mut command = Cmd::with_capacity(words.len(), words.iter().map(|word| word.len()).sum());
        for word in &words {
            command.arg(&**word);
        }
        Ok((command, rewrite))
    }
}

fn written(replies: impl Iterator<Item = Reply>, encoding: Encoding) -> Vec<u8> {
    let mut out = vec![b'['];
    for (index, reply) in replies.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        reply::write(&mut out, &reply, encoding);
    }
    out.push(b']');
    out
}
