//! Responsible for SVG as text: elements, coordinates, and words that can neither break out of it nor out of their place.

use std::fmt::Write;

use crate::{Ink, Style};

/// An SVG that is being written.
pub(crate) struct Svg {
    pub text: String,
    pub style: Style,
}

/// How a text stands at its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text's look.
#[derive(Clone, Copy)]
pub(crate) struct Font {
    pub size: f64,
    pub ink: Ink,
    pub bold: bool,
    pub anchor: Anchor,
    /// Degrees.
    pub turn: f64,
    /// With the ground around its letters, so that lines behind them do not disturb.
    pub outlined: bool,
}

impl Font {
    pub fn new(size: f64, ink: Ink, anchor: Anchor) -> Self {
        Self { size, ink, bold: false, anchor, turn: 0.0, outlined: false }
    }
}

impl Svg {
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub fn colour(&self, ink: Ink) -> String {
        ink.colour(self.style)
    }

    pub fn write(&mut self, at: (f64, f64), text: &str, font: Font) {
        if text.is_empty() {
            return;
        }
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        let anchor = match font.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if font.bold { " font-weight=\"600\"" } else { "" };
        let turn = match font.turn {
            0.0 => String::new(),
            turn => format!(" transform=\"rotate({} {x} {y})\"", coordinate(turn)),
        };
        let outline = if font.outlined {
            format!(" stroke=\"{}\" stroke-width=\"3\" paint-order=\"stroke\"", self.colour(Ink::Paper))
        } else {
            String::new()
        };
        let (size, fill) = (coordinate(font.size), self.colour(font.ink));
        let _ = writeln!(
            self.text,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}{bold}{turn}{outline}>{}</text>",
            isolated(text)
        );
    }

    /// A path with nothing inside: `d` as SVG has it.
    pub fn stroke(&mut self, d: &str, ink: Ink, width: f64, more: &str) {
        if !d.is_empty() {
            let (colour, width) = (self.colour(ink), coordinate(width));
            let _ = writeln!(
                self.text,
                "<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{more}/>"
            );
        }
    }

    /// A filled path.
    pub fn fill(&mut self, d: &str, ink: Ink, more: &str) {
        if !d.is_empty() {
            let colour = self.colour(ink);
            let _ = writeln!(self.text, "<path d=\"{d}\" fill=\"{colour}\"{more}/>");
        }
    }
}

/// A tenth of a unit is finer than eyes are.
pub(crate) fn coordinate(x: f64) -> String {
    let tenths = (x.clamp(-1e6, 1e6) * 10.0).round() as i64;
    let (sign, tenths) = (if tenths < 0 { "-" } else { "" }, tenths.abs());
    match tenths % 10 {
        0 => format!("{sign}{}", tenths / 10),
        rest => format!("{sign}{}.{rest}", tenths / 10),
    }
}

/// Text for any place in HTML, XML and their attributes. Control characters, which XML does not allow, become �.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            character if character.is_control() => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    safe
}

/// Escaped, and a text that runs from right to left, or turns the direction, keeps that to itself.
fn isolated(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{590}'..='\u{8ff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}');
    let text = text.chars().filter(|c| !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
    let text: String = text.collect();
    if text.contains(turns) { format!("\u{2068}{}\u{2069}", escaped(&text)) } else { escaped(&text) }
}

/// Width of a text in units of SVG, near enough to lay things out: the widths of DejaVu Sans, among the widest of
/// the letters that a reader may have.
pub fn text_width(text: &str, size: f64) -> f64 {
    size * text.chars().map(letter_width).sum::<f64>()
}

fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' => 0.33,
        'f' | 't' | 'r' | 'I' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' | '"' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.96,
        'A'..='Z' => 0.71,
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe0f}' => 0.0,
        letter if letter >= '\u{1100}' && !('\u{2000}'..='\u{22ff}').contains(&letter) => 1.05,
        _ => 0.63,
    }
}

/// The text, cut with … where it is wider than `room`.
pub fn shortened(text: &str, size: f64, room: f64) -> String {
    let mut width = 0.0;
    let whole = text.chars().all(|letter| {
        width += size * letter_width(letter);
        width <= room
    });
    if whole {
        return text.to_string();
    }
    let mut left = room - size * letter_width('…');
    let fits = |letter: &char| {
        left -= size * letter_width(*letter);
        left >= 0.0
    };
    let start: String = text.chars().take_while(fits).collect();
    // A letter without its joined marks is better than half a family of emoji.
    format!("{}…", start.trim_end_matches(['\u{200d}', '\u{fe0f}', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!([0.04, -0.04, 1.0, -1.26, 10.95].map(coordinate), ["0", "0", "1", "-1.3", "11"]);
        assert_eq!(coordinate(f64::NAN), "0");
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(
            escaped("<script>alert('\"&')</script>\u{0}\n"),
            "&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;\u{fffd} "
        );
        assert_eq!(isolated("a\u{202e}b"), "ab");
        assert_eq!(isolated("שלום"), "\u{2068}שלום\u{2069}");
    }

    #[test]
    fn long_text_is_cut() {
        let long = "x".repeat(10_000);
        let short = shortened(&long, 12.0, 100.0);
        assert!(short.ends_with('…') && text_width(&short, 12.0) <= 100.0 && short.chars().count() > 8, "{short}");
        assert_eq!(shortened("short", 12.0, 100.0), "short");
        assert_eq!(shortened("👩‍👩‍👧", 12.0, 28.0), "👩…");
    }
}
