//! Responsible for colours: few, named by what they are, told apart also by colour-blind eyes (Okabe and Ito's palette), each
//! with a value for white paper and one for a dark page.

/// Where a figure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In a file of its own, on white paper: plain colours.
    File,
    /// Inside a page that defines [`page_colours`]: light or dark as the reader has it.
    Page,
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Ink {
    /// Letters, and marks as strong as letters.
    Text,
    /// Labels of ticks and notes.
    Muted,
    /// Lines that guide the eye.
    Grid,
    /// The ground.
    Paper,
    Blue,
    Orange,
    Green,
    Purple,
    Sky,
    Amber,
    Grey,
}

impl Ink {
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

    /// Name, on white, on dark.
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

    /// As SVG and CSS have it.
    pub fn colour(self, style: Style) -> String {
        let (name, light, _) = self.values();
        match style {
            Style::File => light.into(),
            Style::Page => format!("var(--{name})"),
        }
    }
}

/// The style sheet that a page with figures of [`Style::Page`] needs: light, or dark where the reader prefers it. Paper is light.
pub fn page_colours() -> String {
    let list = |dark: bool| {
        let colour = |ink: &Ink| {
            let (name, light, night) = ink.values();
            format!("--{name}:{}", if dark { night } else { light })
        };
        Ink::ALL.iter().map(colour).collect::<Vec<_>>().join(";")
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
                let share = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
                if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn letters_and_lines_stand_out_from_their_ground() {
        let (_, paper, night) = Ink::Paper.values();
        for ink in Ink::ALL {
            let (name, light, dark) = ink.values();
            let least = match ink {
                Ink::Text | Ink::Muted => 4.5,
                // Fills and helping lines, never alone.
                Ink::Grid | Ink::Paper | Ink::Sky => continue,
                _ => 3.0,
            };
            assert!(contrast(light, paper) >= least, "{name} on white: {}", contrast(light, paper));
            assert!(contrast(dark, night) >= least, "{name} on dark: {}", contrast(dark, night));
        }
    }
}
