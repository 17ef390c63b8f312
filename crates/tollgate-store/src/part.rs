//! What distinguishes one key of a policy from another.

use std::fmt;

use sha2::{Digest, Sha256};

/// One part of a key: a visitor, a project, a plan's number.
///
/// A number is its decimal text: `Number(7)` and `Text("7")` are one part. The enum is exhaustive on purpose: anything else is
/// text already.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// Any text at all; what would be ambiguous in a key is escaped there.
    Text(&'a str),
    /// A whole number.
    Number(u64),
}

/// The longest part that a key holds as it is; a longer one is held as its digest.
pub(crate) const LONGEST: usize = 256;

/// A part in the form that keys are compared in.
pub(crate) enum Form<'a> {
    Short(&'a str),
    Digest([u8; 32]),
}

impl Part<'_> {
    /// Calls `with` with the part as text.
    #[inline]
    pub(crate) fn with_text<R>(&self, with: impl FnOnce(&str) -> R) -> R {
        match *self {
            Part::Text(text) => with(text),
            Part::Number(number) => with(itoa::Buffer::new().format(number)),
        }
    }

    #[inline]
    pub(crate) fn with_form<R>(&self, with: impl FnOnce(Form<'_>) -> R) -> R {
        self.with_text(|text| {
            with(if text.len() <= LONGEST { Form::Short(text) } else { Form::Digest(digest(text)) })
        })
    }

    /// Writes the part so that no other part reads the same: `%`, `{`, `}` and control bytes escaped as `%` and two hex
    /// digits, and `:` too unless this is the last part; a long one as `%#` and its digest.
    pub(crate) fn write_escaped(&self, out: &mut dyn fmt::Write, last: bool) -> fmt::Result {
        self.with_form(|form| match form {
            Form::Short(text) => write_escaped(text, out, last),
            Form::Digest(digest) => {
                out.write_str("%#")?;
                digest.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
        })
    }
}

fn write_escaped(mut text: &str, out: &mut dyn fmt::Write, last: bool) -> fmt::Result {
    let is_special =
        |byte: u8| matches!(byte, b'%' | b'{' | b'}') || byte.is_ascii_control() || (byte == b':' && !last);
    while let Some(at) = text.bytes().position(is_special) {
        // Every special byte is ASCII, so it is a character of its own.
        let (plain, rest) = text.split_at(at);
        out.write_str(plain)?;
        write!(out, "%{:02X}", rest.as_bytes()[0])?;
        text = &rest[1..];
    }
    out.write_str(text)
}

/// SHA-256: the text is a stranger's, and two of one digest would share a count.
#[cold]
fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Part::Number(one), Part::Number(other)) => one == other,
            _ => self.with_text(|one| other.with_text(|other| one == other)),
        }
    }
}

impl Eq for Part<'_> {}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| fmt::Debug::fmt(text, f))
    }
}

/// A value that is one part of a key: text in any form (`&str`, `&String`, anything `AsRef<str>`), or an unsigned integer.
pub trait KeyPart<'a> {
    /// The value as a part.
    fn into_part(self) -> Part<'a>;
}

impl<'a> KeyPart<'a> for Part<'a> {
    fn into_part(self) -> Self {
        self
    }
}

impl<'a, T: AsRef<str> + ?Sized> KeyPart<'a> for &'a T {
    fn into_part(self) -> Part<'a> {
        Part::Text(self.as_ref())
    }
}

macro_rules! number_is_a_part {
    ($($number:ty)*) => {$(
        impl KeyPart<'_> for $number {
            fn into_part(self) -> Part<'static> {
                Part::Number(u64::from(self))
            }
        }
    )*};
}

number_is_a_part!(u8 u16 u32 u64);

/// A value, or a tuple of up to four, that makes exactly the `N` parts a key needs.
///
/// A policy fixes `N`, so a part too few or too many does not compile.
///
/// ```
/// use tollgate_store::{KeyParts, Part};
///
/// let project = String::from("docs");
/// let parts = (&project, 7u32).into_parts();
/// assert_eq!(parts, [Part::Text("docs"), Part::Number(7)]);
/// assert!(().into_parts().is_empty());
/// ```
///
/// One part too few:
/// ```compile_fail,E0277
/// fn charge<'a>(parts: impl tollgate_store::KeyParts<'a, 2>) {}
///
/// charge("docs");
/// ```
///
/// One too many:
/// ```compile_fail,E0277
/// fn charge<'a>(parts: impl tollgate_store::KeyParts<'a, 2>) {}
///
/// charge(("docs", "203.0.113.7", 7u32));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make the {N} key part(s) that this policy needs",
    note = "a part is a `&str`, any `&T` with `T: AsRef<str>`, or an unsigned integer; give several as a tuple and none as `()`"
)]
pub trait KeyParts<'a, const N: usize> {
    /// The value as parts.
    fn into_parts(self) -> [Part<'a>; N];
}

impl<'a> KeyParts<'a, 0> for () {
    fn into_parts(self) -> [Part<'a>; 0] {
        []
    }
}

impl<'a, A: KeyPart<'a>> KeyParts<'a, 1> for A {
    fn into_parts(self) -> [Part<'a>; 1] {
        [self.into_part()]
    }
}

macro_rules! tuple_is_parts {
    ($count:literal $($name:ident)*) => {
        impl<'a, $($name: KeyPart<'a>),*> KeyParts<'a, $count> for ($($name,)*) {
            #[expect(non_snake_case, reason = "the names of the types name the values too")]
            fn into_parts(self) -> [Part<'a>; $count] {
                let ($($name,)*) = self;
                [$($name.into_part()),*]
            }
        }
    };
}

tuple_is_parts!(2 A B);
tuple_is_parts!(3 A B C);
tuple_is_parts!(4 A B C D);

/// A signed-in user or an unknown visitor, for a policy that is charged for either: two parts, so that a user who is called
/// `203.0.113.7` and a visitor from that address never share a count.
///
/// ```
/// use tollgate_store::{Key, KeyParts, Name, Subject};
///
/// let user = Subject::User("203.0.113.7").into_parts();
/// let visitor = Subject::Visitor("203.0.113.7").into_parts();
/// assert_ne!(Key::new(Name::new("chat"), &user), Key::new(Name::new("chat"), &visitor));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third kind of caller")]
pub enum Subject<'a> {
    /// Somebody who is signed in, by a name that your accounts give.
    User(&'a str),
    /// Somebody who is not, by what the network says.
    Visitor(&'a str),
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Subject::User(_) => "User(..)",
            Subject::Visitor(_) => "Visitor(..)",
        })
    }
}

impl<'a> KeyParts<'a, 2> for Subject<'a> {
    fn into_parts(self) -> [Part<'a>; 2] {
        match self {
            Subject::User(user) => [Part::Text("user"), Part::Text(user)],
            Subject::Visitor(visitor) => [Part::Text("visitor"), Part::Text(visitor)],
        }
    }
}
