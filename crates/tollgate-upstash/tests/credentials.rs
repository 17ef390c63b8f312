//! Credentials as they arrive from environments, with what goes wrong there.

use tollgate_upstash::{Credentials, CredentialsError, EnvError};

const URL: &str = "https://eu1-fond-1.upstash.io";
const TOKEN: &str = "AXdkS3CRETkxMjM0NTY3ODk=";

fn from(variables: &[(&str, &str)]) -> Result<Option<Credentials>, EnvError> {
    Credentials::from_env(|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_first_complete_pair_counts() {
    const KV: (&str, &str) = ("KV_REST_API_URL", "KV_REST_API_TOKEN");
    const UPSTASH: (&str, &str) = ("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN");
    let (kv, upstash) = ("https://kv.example", "https://upstash.example");
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let table: &[(Variables<'_>, Option<&str>)] = &[
        (&[], None),
        (&[(KV.0, kv), (KV.1, TOKEN)], Some(kv)),
        (&[(UPSTASH.0, upstash), (UPSTASH.1, TOKEN)], Some(upstash)),
        (&[(KV.0, kv), (KV.1, TOKEN), (UPSTASH.0, upstash), (UPSTASH.1, TOKEN)], Some(kv)),
        // Half a pair is none, and halves are not put together.
        (&[(KV.0, kv)], None),
        (&[(KV.1, TOKEN)], None),
        (&[(KV.0, kv), (UPSTASH.1, TOKEN)], None),
        (&[(KV.0, kv), (UPSTASH.0, upstash), (UPSTASH.1, TOKEN)], Some(upstash)),
        // Empty is not set, in every form that a file may say it.
        (&[(KV.0, kv), (KV.1, ""), (UPSTASH.0, upstash), (UPSTASH.1, TOKEN)], Some(upstash)),
        (&[(KV.0, " \n"), (KV.1, TOKEN)], None),
        (&[(KV.0, "\"\""), (KV.1, TOKEN)], None),
        // Half a pair that is wrong is not looked at.
        (&[(KV.0, "nonsense"), (UPSTASH.0, upstash), (UPSTASH.1, TOKEN)], Some(upstash)),
    ];
    for (variables, expected) in table {
        let found = from(variables).unwrap();
        assert_eq!(found.as_ref().map(Credentials::url), *expected, "{variables:?}");
    }
}

#[test]
fn what_surrounds_a_value_is_taken_off() {
    let plain = Credentials::new(URL, TOKEN).unwrap();
    for wrap in
        ["{} ", " {}", "{}\n", "\r\n{}\r\n", "\t{}", "\"{}\"", "'{}'", "`{}`", " \"{}\"\n", "\" {} \""]
    {
        let with = |value: &str| wrap.replace("{}", value);
        assert_eq!(Credentials::new(&with(URL), &with(TOKEN)), Ok(plain.clone()), "{wrap:?}");
    }
    for slash in ["/", "//"] {
        assert_eq!(Credentials::new(&format!("{URL}{slash}"), TOKEN), Ok(plain.clone()));
    }
}

#[test]
fn a_short_token_may_be_a_word_of_the_url() {
    for (url, token) in [("http://localhost:8079", "local"), ("http://redis:80", "redis"), (URL, "http")] {
        assert!(Credentials::new(url, token).is_ok(), "{url} {token}");
    }
}

#[test]
fn what_is_wrong_is_named_without_the_value() {
    use CredentialsError as E;
    let with_token = |head: &str| format!("{head}{TOKEN}");
    let table = [
        (TOKEN.to_owned(), URL.to_owned(), E::Swap),
        (with_token(""), "http://8.8.8.8".to_owned(), E::Swap),
        (URL.to_owned(), URL.to_owned(), E::UrlInToken),
        (URL.to_owned(), "rediss://default:secret@eu1.upstash.io:6379".to_owned(), E::UrlInToken),
        (String::new(), TOKEN.to_owned(), E::EmptyUrl),
        (URL.to_owned(), "''".to_owned(), E::EmptyToken),
        ("https://eu1 fond.upstash.io".to_owned(), TOKEN.to_owned(), E::BlankInUrl),
        ("https://eu1\nfond.upstash.io".to_owned(), TOKEN.to_owned(), E::BlankInUrl),
        (format!("\"{URL}"), TOKEN.to_owned(), E::BlankInUrl),
        (URL.to_owned(), format!("{TOKEN}\n{TOKEN}"), E::BlankInToken),
        (URL.to_owned(), format!("{TOKEN}'"), E::BlankInToken),
        (URL.to_owned(), format!("{TOKEN}\u{0}"), E::BlankInToken),
        (URL.to_owned(), format!("{TOKEN}ä"), E::BlankInToken),
        (URL.to_owned(), with_token("Bearer "), E::Bearer),
        (URL.to_owned(), with_token("bearer  "), E::Bearer),
        ("eu1-fond-1.upstash.io".to_owned(), TOKEN.to_owned(), E::NoScheme),
        ("ftp://eu1-fond-1.upstash.io".to_owned(), TOKEN.to_owned(), E::NoScheme),
        ("https://".to_owned(), TOKEN.to_owned(), E::NoUrl),
        ("https://[::1".to_owned(), TOKEN.to_owned(), E::NoUrl),
        ("rediss://default@eu1.upstash.io:6379".to_owned(), TOKEN.to_owned(), E::RedisUrl),
        ("http://eu1-fond-1.upstash.io".to_owned(), TOKEN.to_owned(), E::PublicHttp),
        (format!("https://default:{TOKEN}@eu1.upstash.io"), TOKEN.to_owned(), E::TokenInUrl),
        (format!("{URL}?_token={TOKEN}"), TOKEN.to_owned(), E::TokenInUrl),
        (format!("{URL}/{TOKEN}"), TOKEN.to_owned(), E::TokenInUrl),
        (format!("{URL}?a=b"), TOKEN.to_owned(), E::Query),
        (format!("{URL}#a"), TOKEN.to_owned(), E::Query),
    ];
    for (url, token, expected) in table {
        let error = Credentials::new(&url, &token).expect_err(&url);
        assert_eq!(error, expected, "{url:?} {token:?}");
        let text = format!("{error} {error:?}");
        assert!(!text.contains("S3CRET") && !text.contains("fond"), "{text}");

        if expected != E::EmptyUrl && expected != E::EmptyToken {
            let error = from(&[("KV_REST_API_URL", &url), ("KV_REST_API_TOKEN", &token)]).expect_err(&url);
            assert_eq!(error.problem(), expected);
            assert!(error.to_string().starts_with(error.variable()));
            let is_token = matches!(expected, E::BlankInToken | E::Bearer | E::UrlInToken);
            assert_eq!(error.variable(), if is_token { "KV_REST_API_TOKEN" } else { "KV_REST_API_URL" });
        }
    }
}

#[test]
fn a_pair_that_is_wrong_is_not_passed_over() {
    let error = from(&[
        ("KV_REST_API_URL", "http://8.8.8.8"),
        ("KV_REST_API_TOKEN", TOKEN),
        ("UPSTASH_REDIS_REST_URL", URL),
        ("UPSTASH_REDIS_REST_TOKEN", TOKEN),
    ])
    .unwrap_err();
    assert_eq!(error.variable(), "KV_REST_API_URL");
}

#[test]
fn the_token_is_not_shown() {
    let credentials = Credentials::new(URL, TOKEN).unwrap();
    assert!(!format!("{credentials:?} {credentials:#?}").contains("S3CRET"));
}
