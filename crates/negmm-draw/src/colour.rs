//! The colours: Okabe and Ito's palette, which is safe for colour-blind readers, each for light and dark backgrounds.

/// Where a figure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In a file of its own, on white.
    File,
    /// Inside a page with the style sheet [`page_colours`], light or dark.
    Page,
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Colour {
    /// Text.
    Text,
    /// Tick labels and annotations.
    Muted,
    /// Grid lines.
    Grid,
    /// The background.
    Paper,
    Blue,
    Orange,
    Green,
    Purple,
    Sky,
    Amber,
    Grey,
}

impl Colour {
    const ALL: [Self; 11] = [
        Self::Text,
        Self::Muted,
        Self::Grid,
        Self::Paper,
        Self::Blue,
        Self::Orange,
        Self::Green,
        Self::Purple,
        Self::Sky,
        Self::Amber,
        Self::Grey,
    ];

    /// The colour for the n-th of several series.
    pub fn series(n: usize) -> Self {
        [Self::Blue, Self::Orange, Self::Green, Self::Purple, Self::Amber, Self::Sky, Self::Grey][n % 7]
    }

    /// Name, value on white, value on dark.
    fn values(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Text => ("text", "#1a1f26", "#e8eaed"),
            Self::Muted => ("muted", "#59636e", "#a9b3bd"),
            Self::Grid => ("grid", "#e3e6ea", "#2c343d"),
            Self::Paper => ("paper", "#ffffff", "#12171d"),
            Self::Blue => ("blue", "#0072b2", "#4aa8e8"),
            Self::Orange => ("orange", "#d55e00", "#ff8b4a"),
            Self::Green => ("green", "#00805d", "#35c795"),
            Self::Purple => ("purple", "#b0528a", "#e29bc5"),
            Self::Sky => ("sky", "#56b4e9", "#7cc7f2"),
            Self::Amber => ("amber", "#b57a00", "#f0b93b"),
            Self::Grey => ("grey", "#6e7781", "#9aa4ae"),
        }
    }

    /// As text for SVG and CSS.
    pub fn css(self, style: Style) -> String {
        let (name, light, _) = self.values();
        match style {
            Style::File => light.into(),
            Style::Page => format!("var(--{name})"),
        }
    }
}

/// The style sheet for figures of [`Style::Page`]: dark where the reader prefers it, always light in print.
pub fn page_colours() -> String {
    let list = |dark: bool| {
        let colour = |colour: &Colour| {
            let (name, light, night) = colour.values();
            format!("--{name}:{}", if dark { night } else { light })
        };
        Colour::ALL.iter().map(colour).collect::<Vec<_>>().join(";")
    };
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n",
        list(false),
        list(true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast as the Web Content Accessibility Guidelines define them.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let part = |at: usize| {
                let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_lines_have_enough_contrast() {
        let (_, paper, night) = Colour::Paper.values();
        for colour in Colour::ALL {
            let (name, light, dark) = colour.values();
            let least = match colour {
                Colour::Text | Colour::Muted => 4.5,
                // Fills and grid lines.
                Colour::Grid | Colour::Paper | Colour::Sky => continue,
                _ => 3.0,
            };
            assert!(contrast(light, paper) >= least, "{name} on white: {}", contrast(light, paper));
            assert!(contrast(dark, night) >= least, "{name} on dark: {}", contrast(dark, night));
        }
    }
}
