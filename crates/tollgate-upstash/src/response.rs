//! From an HTTP response to the answer of each command in the request.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::value::RawValue;

use crate::{failure::Failure, reply::Answer};

/// The JSON of the answer to the one command that was sent.
pub(crate) fn of_one(response: Response<Bytes>) -> Result<Bytes, Failure> {
    match response.status() {
        StatusCode::OK => Ok(response.into_body()),
        status => of_failure(status, response.into_body()),
    }
}

/// The JSON of each of `count` answers. It is cut up here and read by the callers, so that one which cannot be read is one
/// caller's affair.
pub(crate) fn of_many(response: Response<Bytes>, count: usize) -> Result<Vec<Bytes>, Failure> {
    let (status, body) = (response.status(), response.into_body());
    if status != StatusCode::OK {
        return of_failure(status, body).map(|answer| vec![answer; count]);
    }
    let Ok(answers) = serde_json::from_slice::<Vec<&RawValue>>(&body) else {
        return if is_error(&body) { Ok(vec![body; count]) } else { Err(Failure::Garbage(NO_ARRAY)) };
    };
    if answers.len() != count {
        return Err(Failure::Garbage("there are not as many answers as commands: check what is at the URL"));
    }
    Ok(answers.into_iter().map(|answer| body.slice_ref(answer.get().as_bytes())).collect())
}

const NO_ARRAY: &str = "the answer to several commands is no array: check what is at the URL";

/// A request that failed as a whole. An error text beside the status is the answer to each command; a status of 5xx speaks
/// for itself, since the service may not have been asked at all.
fn of_failure(status: StatusCode, body: Bytes) -> Result<Bytes, Failure> {
    if !status.is_server_error() && is_error(&body) { Ok(body) } else { Err(Failure::Status(status)) }
}

fn is_error(body: &[u8]) -> bool {
    matches!(Answer::read(body), Some(Answer::Error(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: &str = r#"{"error":"ERR no"}"#;

    fn response(status: u16, body: &str) -> Response<Bytes> {
        let mut response = Response::new(Bytes::copy_from_slice(body.as_bytes()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        response
    }

    #[test]
    fn several_answers_are_cut_up() {
        let body = r#" [ {"result":1} ,{"error":"ERR [,]"},{"result":[1.5]}] "#;
        let answers = of_many(response(200, body), 3).unwrap();
        assert_eq!(answers, [r#"{"result":1}"#, r#"{"error":"ERR [,]"}"#, r#"{"result":[1.5]}"#]);
    }

    #[test]
    fn an_error_of_the_whole_request_is_everybodys() {
        for status in [200, 400, 401, 429] {
            assert_eq!(of_many(response(status, ERROR), 2).unwrap(), [ERROR, ERROR], "{status}");
            assert_eq!(of_one(response(status, ERROR)).unwrap(), ERROR, "{status}");
        }
    }

    #[test]
    fn a_status_says_what_the_body_does_not() {
        for (status, body) in
            [(500, ERROR), (502, "<html>"), (404, "<html>"), (302, ""), (400, r#"{"result":1}"#)]
        {
            for failure in
                [of_one(response(status, body)).unwrap_err(), of_many(response(status, body), 1).unwrap_err()]
            {
                assert!(matches!(failure, Failure::Status(found) if found.as_u16() == status), "{failure:?}");
            }
        }
    }

    #[test]
    fn what_is_no_array_of_that_length_is_garbage() {
        for body in [
            "",
            "<html>",
            "{}",
            "[",
            r#"[{"result":1}"#,
            r#"[{"result":1}]"#,
            "[1,2,3]",
            "[1,2]]",
            "[1,\u{0}]",
        ] {
            let failure = of_many(response(200, body), 2).unwrap_err();
            assert!(matches!(failure, Failure::Garbage(_)), "{body}: {failure:?}");
        }
    }
}
