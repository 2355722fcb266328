//! A server under test, and mutated requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc;

use negmm_serve::{Event, Limits, Settings, run};

/// Endpoints; `{}` is replaced by a model's name.
const ENDPOINTS: [&str; 9] = [
    "POST /v2/models/{}/infer",
    "POST /invocations?model={}",
    "POST /invocations?model={}&interval=0.9&region=0.5&novelty=true&draws=2&equal=1",
    "POST /invocations?model={}&conformal=true&interval=0.9&region=0.5",
    "POST /v2/models/{}/observe",
    "POST /v2/models/{}/explore",
    "GET /v2/models/{}/inputs",
    "GET /v2/models/{}/observe",
    "GET /v2/models/{}",
];
const TYPES: [&str; 4] = ["application/json", "text/csv", ARROW, "application/json; charset=x"];
/// Valid bodies to mutate; the last is the only one in Arrow.
const BODIES: [&[u8]; 9] = [
    br#"{"id":"a","inputs":[{"name":"x","shape":[2],"datatype":"FP64","data":[0.25,5]},{"name":"city","shape":[2],"datatype":"BYTES","data":["Oslo",null]}],"parameters":{"quantiles":"0.1,0.9","interval":0.9}}"#,
    br#"{"dataframe_split":{"columns":["x","city","day","same"],"data":[[0.25,"Oslo","2024-01-01",3],[1e300,null,"",3]]},"params":{"parts":true,"above":[100]}}"#,
    br#"{"dataframe_records":[{"x":-0.0,"city":"\u0000"}],"params":{"equal":[0],"shortfall":0.05,"components":true}}"#,
    br#"{"instances":[{"x":1,"city":"Oslo","day":"2024-01-01","same":3,"y":110,"count":1,"rain":0,"over":0}]}"#,
    b"x,city,day,same,y,count,rain,over\n0.25,Oslo,2024-01-01,3,110,1,0,0\n\"0.5\",,,,1,2,3,1\n",
    br#"{"row":{"x":1,"city":"Oslo"},"column":"x","interval":0.9}"#,
    br#"{"inputs":{"y":[100,107,104,111]},"params":{"interval":0.9,"conformal":true}}"#,
    b"y\n100\n107\n104\n111\n",
    include_bytes!("../seeds/rows.arrow"),
];
const ARROW: &str = "application/vnd.apache.arrow.stream";
/// First bytes of an Arrow stream.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Fragments to insert.
const WORDS: [&str; 16] = [
    "null",
    "-1",
    "1e308",
    "-1e-308",
    "[]",
    "{}",
    "\"",
    "NaN",
    "[[",
    "9999999999999999999999",
    "\\ud800",
    "true",
    ",",
    ":",
    "\0",
    "é",
];

/// Starts a server of these models, which runs until the program ends. Returns its address and the models' names.
pub fn server(models: &[Vec<u8>], folder: &Path) -> (SocketAddr, Vec<String>) {
    let files = models.iter().enumerate().map(|(number, model)| {
        let file = folder.join(format!("m{number}.negmm"));
        std::fs::write(&file, model).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        file
    });
    let settings = Settings {
        models: files.collect(),
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        token_file: None,
        threads: 1,
        limits: Limits { rows: 100, ..Limits::default() },
    };
    let (sender, receiver) = mpsc::channel();
    let on_event = move |event| {
        if let Event::Listening(address, names) = event {
            // The receiver takes only the first.
            let _ = sender.send((address, names));
        }
    };
    std::thread::spawn(move || run(&settings, on_event).unwrap_or_else(|error| panic!("{error}")));
    receiver.recv().unwrap_or_else(|_| panic!("the server did not start"))
}

/// A request to one of the models: a valid one with a few mutations.
pub fn mutated_request(names: &[String], script: &[u8]) -> Vec<u8> {
    let Some(([endpoint, name, kind, seed], changes)) = script.split_first_chunk() else { return Vec::new() };
    fn pick<T>(list: &[T], which: u8) -> &T {
        &list[usize::from(which) % list.len()]
    }
    let mut body = pick(&BODIES, *seed).to_vec();
    for [low, high, what, with] in changes.as_chunks().0 {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % (body.len() + 1);
        match what % 4 {
            0 => drop(body.drain(at..(at + usize::from(with % 12)).min(body.len()))),
            1 => drop(body.splice(at..at, pick(&WORDS, *with).bytes())),
            2 => body.iter_mut().skip(at).take(1).for_each(|byte| *byte = *with),
            _ => body.truncate(at.max(1)),
        }
    }
    let endpoint = pick(&ENDPOINTS, *endpoint).replace("{}", pick::<String>(names, *name));
    let kind = if body.starts_with(&CONTINUATION) { ARROW } else { pick(&TYPES, *kind) };
    let length = body.len();
    let head = format!("{endpoint} HTTP/1.1\r\nhost: a\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
    [head.as_bytes(), &body].concat()
}

/// An HTTP client with one connection, reopened when the server closes it.
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    /// A client that is not connected yet.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    /// Sends a request and returns the status of the response.
    ///
    /// # Panics
    /// When there is no response.
    pub fn send(&mut self, request: &[u8]) -> u16 {
        let connected =
            || TcpStream::connect(self.address).map(BufReader::new).unwrap_or_else(|error| panic!("{error}"));
        let mut stream = self.stream.take().unwrap_or_else(connected);
        let (status, stays) = response(&mut stream, request).unwrap_or_else(|error| panic!("no response: {error}"));
        self.stream = Some(stream).filter(|_| stays);
        status
    }
}

/// Status of the response, and whether the connection stays open.
fn response(stream: &mut BufReader<TcpStream>, request: &[u8]) -> std::io::Result<(u16, bool)> {
    stream.get_mut().set_nodelay(true)?;
    stream.get_mut().write_all(request)?;
    let (mut status, mut length, mut stays) = (None, 0, true);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        match (status, line.split_once(": ")) {
            (None, _) => status = Some(line.get(9..12).and_then(|code| code.parse().ok()).unwrap_or(0)),
            (Some(status), _) if line.is_empty() => {
                std::io::copy(&mut stream.take(length), &mut std::io::sink())?;
                return Ok((status, stays));
            }
            (_, Some(("content-length", value))) => length = value.parse().unwrap_or(0),
            (_, Some(("connection", "close"))) => stays = false,
            _ => {}
        }
    }
}
