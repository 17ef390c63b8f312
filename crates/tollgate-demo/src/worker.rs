//! What a push has left to do: updates of pages, at most so many a day for an organization.

use std::{error::Error, future::Future, pin::pin, time::Duration};

use tollgate_guard::{Outcome, Pass, PolicyCharge};
use tollgate_http::Rejection;
use tollgate_webhook::{Begin, Delivery, Hold};

use crate::{App, Name, Site, jobs::Job, policies::DOCS_UPDATE, routes::model_failed};

/// How long to leave a queue alone that cannot be asked.
const PAUSE: Duration = Duration::from_secs(1);

impl App {
    /// Works off what webhooks have left to do, one after another, until it is told to stop. What it is at then is done to its end.
    pub async fn serve_jobs(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            // Nothing is taken out of the queue that could be lost by stopping.
            let idle = match self.jobs().pop().await {
                Ok(Some(job)) => {
                    self.update(job).await;
                    self.note_activity();
                    self.live().tell();
                    Idle::No
                }
                Ok(None) => Idle::Empty,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "the worker cannot read its queue");
                    Idle::Failed
                }
            };
            tokio::select! {
                biased;
                () = &mut stop => return,
                () = self.pause(idle) => {}
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "when to look again is no decision of a limit")]
    async fn pause(&self, idle: Idle) {
        match idle {
            Idle::No => {}
            Idle::Empty => self.jobs().wait().await,
            Idle::Failed => tokio::time::sleep(PAUSE).await,
        }
    }

    /// Does one job, and confirms or releases its delivery.
    async fn update(&self, job: Job) {
        let id = job.ticket.id().clone();
        let Some(delivery) = self.take_over(&job).await else {
            tracing::info!(%id, "somebody else has this delivery");
            return;
        };
        let (done, ending) = match self.run(&delivery, &job).await {
            Run::Done { pages } => {
                tracing::info!(%id, pages, "pages updated");
                (true, delivery.confirm().await)
            }
            Run::Nothing => {
                tracing::info!(%id, "no page of this site is named: nothing to do");
                (true, delivery.confirm().await)
            }
            Run::OverCap => {
                tracing::info!(%id, "as many updates as a day has: released, to be delivered again");
                (false, delivery.release().await.map(|()| Hold::Ours))
            }
            Run::Lost => {
                tracing::warn!(%id, "the update outlasted its lease: whoever holds the delivery now does it");
                (false, delivery.release().await.map(|()| Hold::Ours))
            }
            Run::Failed => {
                tracing::warn!(%id, "the update failed: released, to be delivered again");
                (false, delivery.release().await.map(|()| Hold::Ours))
            }
        };
        match ending {
            Ok(Hold::Ours) => {}
            Ok(Hold::Lost) => tracing::warn!(%id, "the work outlasted its lease: it may be done twice"),
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, %id, done, "the delivery is held until its lease ends");
            }
        }
    }

    /// The delivery, if it is this worker's. One that waited for longer than its lease is claimed anew: it may have been delivered
    /// again meanwhile.
    async fn take_over(&self, job: &Job) -> Option<Delivery> {
        let delivery = self.deliveries().take_over(job.ticket.clone());
        match delivery.renew().await {
            Ok(Hold::Ours) => return Some(delivery),
            Ok(Hold::Lost) => {}
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "it cannot be told whether a delivery is still held"
                );
                return Some(delivery);
            }
        }
        let ticket = delivery.hand_over();
        match self.deliveries().begin(ticket.scope(), ticket.id()).await {
            Begin::First(delivery) => Some(delivery),
            Begin::Running { .. } | Begin::Duplicate | Begin::Unavailable(_) => None,
        }
    }

    async fn run(&self, delivery: &Delivery, job: &Job) -> Run {
        let Ok(pages) = self.named(&job.pages).await else { return Run::Failed };
        if pages.is_empty() {
            return Run::Nothing;
        }
        // Only now that there is work, and by the worker: a push without any, and a copy of one, cost nothing.
        let charges = [DOCS_UPDATE.charge(&job.org)];
        let pass = match self.guard().check(&charges).await {
            Outcome::Allow(pass) => pass,
            Outcome::Deny(_) | Outcome::Unavailable(_) => return Run::OverCap,
        };
        for page in &pages {
            if let Err(_told) = self.update_page(page).await {
                self.give_back(&charges, &pass).await;
                return Run::Failed;
            }
            // Each page may take as long as a model does.
            match delivery.renew().await {
                Ok(Hold::Ours) => {}
                Ok(Hold::Lost) => {
                    self.give_back(&charges, &pass).await;
                    return Run::Lost;
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "a delivery could not be held for longer");
                }
            }
        }
        Run::Done { pages: pages.len() }
    }

    /// What is not done, or is done by another who is charged for it, is not counted.
    async fn give_back(&self, charges: &[PolicyCharge<'_>], pass: &Pass) {
        if let Err(error) = self.guard().refund(charges, pass).await {
            tracing::warn!(error = &error as &dyn Error, "an update that was not done stays counted");
        }
    }

    /// Those of the pages that the site has.
    async fn named(&self, pages: &[Name]) -> Result<Vec<Name>, Rejection> {
        let pages = pages.to_vec();
        self.work(move |site| {
            let mut named = Vec::new();
            for page in pages {
                if site.has(page.as_str())? {
                    named.push(page);
                }
            }
            Ok(named)
        })
        .await
    }

    /// Reads a page again, stages the index with it, and has the model, if there is one, say what it is about.
    async fn update_page(&self, page: &Name) -> Result<(), Rejection> {
        let name = page.clone();
        let read = move |site: &Site| Ok((site.reindex(name.as_str())?, site.opening(name.as_str())?));
        let (staged, opening) = self.work(read).await?;
        let (Some(staged), Some(opening)) = (staged, opening) else { return Ok(()) };
        let about = match self.model() {
            None => opening.text,
            Some(model) => {
                let answer = model.ask(ABOUT, vec![opening]).await.map_err(|error| model_failed(&error))?;
                answer.collect().await.map_err(|error| model_failed(&error))?.text
            }
        };
        tracing::debug!(page = page.as_str(), edition = staged.edition, about, "staged");
        Ok(())
    }
}

/// What a model is asked about a page.
const ABOUT: &str = "What is this page about? Answer in one sentence.";

/// Why the worker waits.
enum Idle {
    No,
    Empty,
    Failed,
}

/// What came of a job.
enum Run {
    Done {
        pages: usize,
    },
    Nothing,
    /// The day's updates are used up.
    OverCap,
    Failed,
    /// The lease ran out meanwhile, and the sender may have delivered it again.
    Lost,
}
