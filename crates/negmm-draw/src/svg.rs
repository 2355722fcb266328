//! SVG as text: elements, coordinates, and text that is escaped and shortened.

use std::fmt::Write;

use crate::{Colour, Style};

/// A writer of SVG.
pub(crate) struct Svg {
    pub text: String,
    pub style: Style,
}

/// The anchor of a text.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The font of a text.
#[derive(Clone, Copy)]
pub(crate) struct Font {
    pub size: f64,
    pub colour: Colour,
    pub bold: bool,
    pub anchor: Anchor,
    /// In degrees.
    pub rotation: f64,
    /// With an outline in the background colour, which separates it from lines behind.
    pub outlined: bool,
}

impl Font {
    pub fn new(size: f64, colour: Colour, anchor: Anchor) -> Self {
        Self { size, colour, bold: false, anchor, rotation: 0.0, outlined: false }
    }
}

impl Svg {
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub fn css(&self, colour: Colour) -> String {
        colour.css(self.style)
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
        let rotation = match font.rotation {
            0.0 => String::new(),
            degrees => format!(" transform=\"rotate({} {x} {y})\"", coordinate(degrees)),
        };
        let outline = if font.outlined {
            format!(" stroke=\"{}\" stroke-width=\"3\" paint-order=\"stroke\"", self.css(Colour::Paper))
        } else {
            String::new()
        };
        let (size, fill) = (coordinate(font.size), self.css(font.colour));
        let _ = writeln!(
            self.text,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}{bold}{rotation}{outline}>{}</text>",
            isolated(text)
        );
    }

    /// A stroked path; `d` is its SVG data.
    pub fn stroke(&mut self, d: &str, colour: Colour, width: f64, more: &str) {
        if !d.is_empty() {
            let (colour, width) = (self.css(colour), coordinate(width));
            let _ = writeln!(
                self.text,
                "<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{more}/>"
            );
        }
    }

    /// A filled path.
    pub fn fill(&mut self, d: &str, colour: Colour, more: &str) {
        if !d.is_empty() {
            let colour = self.css(colour);
            let _ = writeln!(self.text, "<path d=\"{d}\" fill=\"{colour}\"{more}/>");
        }
    }
}

/// A coordinate with one decimal.
pub(crate) fn coordinate(x: f64) -> String {
    let tenths = (x.clamp(-1e6, 1e6) * 10.0).round() as i64;
    let (sign, tenths) = (if tenths < 0 { "-" } else { "" }, tenths.abs());
    match tenths % 10 {
        0 => format!("{sign}{}", tenths / 10),
        rest => format!("{sign}{}.{rest}", tenths / 10),
    }
}

/// Text escaped for HTML, XML and their attributes. Control characters, which XML does not allow, become �.
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

/// Escaped text; text with another direction is isolated.
fn isolated(text: &str) -> String {
    let bidirectional = |c: char| matches!(c, '\u{590}'..='\u{8ff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}');
    let text = text.chars().filter(|c| !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
    let text: String = text.collect();
    if text.contains(bidirectional) { format!("\u{2068}{}\u{2069}", escaped(&text)) } else { escaped(&text) }
}

/// The approximate width of a text, for layout: by the widths of DejaVu Sans, one of the widest common fonts.
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

/// The text, shortened with … where it is wider than `max_width`.
pub fn shortened(text: &str, size: f64, max_width: f64) -> String {
    let mut width = 0.0;
    let whole = text.chars().all(|letter| {
        width += size * letter_width(letter);
        width <= max_width
    });
    if whole {
        return text.to_string();
    }
    let mut left = max_width - size * letter_width('…');
    let fits = |letter: &char| {
        left -= size * letter_width(*letter);
        left >= 0.0
    };
    let start: String = text.chars().take_while(fits).collect();
    // Does not end within a joined sequence of emoji.
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
    fn text_is_escaped() {
        assert_eq!(
            escaped("<script>alert('\"&')</script>\u{0}\n"),
            "&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;\u{fffd} "
        );
        assert_eq!(isolated("a\u{202e}b"), "ab");
        assert_eq!(isolated("שלום"), "\u{2068}שלום\u{2069}");
    }

    #[test]
    fn long_text_is_shortened() {
        let long = "x".repeat(10_000);
        let short = shortened(&long, 12.0, 100.0);
        assert!(short.ends_with('…') && text_width(&short, 12.0) <= 100.0 && short.chars().count() > 8, "{short}");
        assert_eq!(shortened("short", 12.0, 100.0), "short");
        assert_eq!(shortened("👩‍👩‍👧", 12.0, 28.0), "👩…");
    }
}
