//! Passes, refusals and rejections as axum takes them from a handler.

use std::convert::Infallible;

use axum::response::{IntoResponse, IntoResponseParts, Response, ResponseParts};

use crate::{Passed, Refused, Rejection};

impl IntoResponseParts for Passed {
    type Error = Infallible;

    fn into_response_parts(self, mut response: ResponseParts) -> Result<ResponseParts, Infallible> {
        self.apply(response.headers_mut());
        Ok(response)
    }
}

/// An empty answer with the fields.
impl IntoResponse for Passed {
    fn into_response(self) -> Response {
        (self, ()).into_response()
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        Self::into_response(self)
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        Self::into_response(self)
    }
}
