//! A body that settles a reservation when it ends, however it ends.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tollgate_guard::{Reservation, Unsettled};

type Settling = Pin<Box<dyn Future<Output = Result<(), Unsettled>> + Send>>;

pin_project! {
    /// A body that carries a [`Reservation`] and settles it to what was noted when it ends: at its last frame, at an error, or when it
    /// is dropped because the client has gone.
    ///
    /// `meter` is shown each frame before it is sent and notes what it is worth. At its end the body is settled before the end is
    /// told, so whoever asks again after a whole answer is counted rightly; it takes as long as the store does. A body that is
    /// dropped is settled as any dropped reservation: on a store that has to be waited for, that needs the guard's
    /// [spawner](tollgate_guard::GuardBuilder::spawner). Where nothing was noted, what was taken stays spent.
    ///
    /// It is sent in chunks, whatever is known of its length. Set no `Content-Length` on its response: a server then sends so many bytes
    /// and drops the body, which is settled as a dropped one, not at its end.
    ///
    /// A server notices that a client has gone when it reads or writes, so frames that are already on their way count as used.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use bytes::Bytes;
    /// use http_body_util::{BodyExt, Full};
    /// use tollgate_guard::{Guard, Limit, OnOutage, Policy, Window};
    /// use tollgate_http::{MeteredBody, admit};
    /// # use tollgate_memory::MemoryStore;
    ///
    /// const TOKENS: Policy<0> = Policy::new("tokens", Limit::fixed(1_000, Window::DAY), OnOutage::Deny);
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let guard = Arc::new(Guard::builder(MemoryStore::new()).policy(TOKENS).build()?);
    /// let admitted = admit(guard.reserve(&[TOKENS.charge(()).estimate(500)]).await, guard.now());
    /// let (passed, reservation) = admitted.expect("there is budget").into_parts();
    ///
    /// let answer = Full::new(Bytes::from("a word is a token"));
    /// let body = MeteredBody::new(answer, reservation, |reservation, frame| {
    ///     let words = frame.data_ref().map_or(0, |data| data.split(|byte| *byte == b' ').count());
    ///     reservation.note_more(words as u64);
    /// });
    /// let mut response = http::Response::new(body);
    /// passed.apply(response.headers_mut());
    ///
    /// response.into_body().collect().await?; // what a server does
    /// let left = guard.peek(&[TOKENS.charge(())]).await;
    /// assert_eq!(left.decisions()[0].decision().remaining(), 1_000 - 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "dropped, a body settles its reservation to what was noted"]
    pub struct MeteredBody<B, F>
    where
        B: Body,
    {
        #[pin]
        inner: B,
        meter: F,
        stage: Stage<B::Error>,
    }
}

#[expect(clippy::large_enum_variant, reason = "a body is boxed as a whole by those who send it")]
enum Stage<E> {
    Stream(Reservation),
    /// The inner body has ended, with an error or without.
    Settle(Settling, Option<E>),
    End,
}

impl<B, F> MeteredBody<B, F>
where
    B: Body,
    F: FnMut(&Reservation, &Frame<B::Data>),
{
    /// Lets `inner` through, noting by `meter` what each frame is worth.
    pub const fn new(inner: B, reservation: Reservation, meter: F) -> Self {
        Self { inner, meter, stage: Stage::Stream(reservation) }
    }
}

impl<B, F> Body for MeteredBody<B, F>
where
    B: Body,
    F: FnMut(&Reservation, &Frame<B::Data>),
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        loop {
            match this.stage {
                Stage::Stream(reservation) => {
                    let error = match ready!(this.inner.as_mut().poll_frame(cx)) {
                        Some(Ok(frame)) => {
                            (this.meter)(reservation, &frame);
                            return Poll::Ready(Some(Ok(frame)));
                        }
                        Some(Err(error)) => Some(error),
                        None => None,
                    };
                    if let Stage::Stream(reservation) = std::mem::replace(this.stage, Stage::End) {
                        *this.stage = Stage::Settle(Box::pin(reservation.close()), error);
                    }
                }
                Stage::Settle(settling, error) => {
                    // What could not be settled is tried once more where it is dropped, and that is logged.
                    drop(ready!(settling.as_mut().poll(cx)));
                    let error = error.take();
                    *this.stage = Stage::End;
                    return Poll::Ready(error.map(Err));
                }
                Stage::End => return Poll::Ready(None),
            }
        }
    }

    /// Not before it is settled: a server asks no more of a body that says it has ended.
    fn is_end_stream(&self) -> bool {
        matches!(self.stage, Stage::End)
    }

    /// Not known, even where the inner body knows: over HTTP/1 a server that is told writes `Content-Length`, and drops the body after its
    /// last byte without asking for its end.
    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl<B, F> fmt::Debug for MeteredBody<B, F>
where
    B: Body + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Stream(_) => "stream",
            Stage::Settle(..) => "settle",
            Stage::End => "end",
        };
        f.debug_struct("MeteredBody")
            .field("inner", &self.inner)
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
