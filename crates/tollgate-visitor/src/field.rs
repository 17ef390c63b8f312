//! The values of one header field, bounded in bytes.

use std::net::IpAddr;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::address::{Form, ascii};
use crate::{MAX_HEADER_BYTES, VisitorError};

/// All values of the field in order, once they are known to be short enough together.
pub(crate) fn values<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<impl Iterator<Item = &'a [u8]>, VisitorError> {
    let values = || headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let bytes: usize = values().map(<[u8]>::len).sum();
    if bytes > MAX_HEADER_BYTES { Err(VisitorError::HeaderTooLong) } else { Ok(values()) }
}

/// The address in a field that holds exactly one. `None`: the field is absent.
pub(crate) fn single(
    headers: &HeaderMap,
    name: &HeaderName,
    form: Form,
) -> Result<Option<IpAddr>, VisitorError> {
    let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(VisitorError::RepeatedHeader);
    }
    if value.len() > MAX_HEADER_BYTES {
        return Err(VisitorError::HeaderTooLong);
    }
    let text = ascii(value)?;
    if text.contains(',') {
        return Err(VisitorError::ListNotAllowed);
    }
    form.read(text).map(Some)
}
