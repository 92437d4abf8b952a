//! An HTTP server on this machine that answers as a test says, and remembers the requests.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The headers, with names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// How many bytes to send before the connection ends.
    sent: usize,
    pause: Duration,
}

/// A server that ends with the tests.
pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The requested bytes of a file: the first one, and the one after the last.
    pub(crate) fn range(&self) -> Option<(usize, usize)> {
        let range = self.header("range")?.strip_prefix("bytes=")?;
        let (from, last) = range.split_once('-')?;
        Some((from.parse().ok()?, last.parse::<usize>().ok()? + 1))
    }
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl AsRef<[u8]>) -> Reply {
        let body = body.as_ref().to_vec();
        Reply {
            status,
            headers: Vec::new(),
            sent: body.len(),
            body,
            pause: Duration::ZERO,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Reply {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The part of it that the request names.
    pub(crate) fn part(mut self, request: &Request) -> Reply {
        let Some((from, to)) = request.range() else {
            return self;
        };
        let length = self.body.len();
        if from >= length {
            return Reply::new(416, "").with("Content-Range", format!("bytes */{length}"));
        }
        let to = to.min(length);
        self.body = self.body[from..to].to_vec();
        self.sent = self.body.len();
        self.status = 206;
        self.with("Content-Range", format!("bytes {from}-{}/{length}", to - 1))
    }

    /// Only some bytes of it; then the connection ends.
    pub(crate) fn cut(mut self, sent: usize) -> Reply {
        self.sent = sent;
        self
    }

    pub(crate) fn after(mut self, pause: Duration) -> Reply {
        self.pause = pause;
        self
    }
}

impl Server {
    /// A server that answers by a function. The function also gets the number of earlier requests
    /// for the same path.
    pub(crate) fn new(answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Server {
        Server::that_ends_after(usize::MAX, answer)
    }

    /// The same, but the server is gone after some requests.
    pub(crate) fn that_ends_after(
        most: usize,
        answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Server {
        Server::on(TcpListener::bind("127.0.0.1:0").unwrap(), most, answer)
    }

    /// The same on a port that is given.
    pub(crate) fn on(
        listener: TcpListener,
        most: usize,
        answer: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Server {
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&requests);
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().take(most) {
                let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(request) = read(&stream) else {
                        return;
                    };
                    let before = {
                        let mut asked = asked.lock().unwrap();
                        let same = |known: &&Request| known.path == request.path;
                        let before = asked.iter().filter(same).count();
                        asked.push(request.clone());
                        before
                    };
                    write(&mut stream, &request, &answer(&request, before));
                });
            }
        });
        Server { address, requests }
    }

    /// The requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Request> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }

    /// The paths of the requests since the last call.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = reader.by_ref().lines();
    let first = lines.next()?.ok()?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length");
    let length = length.map_or(Some(0), |length| length.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path,
        headers,
        body,
    })
}

/// The client may have gone away; then nothing more is written.
fn write(stream: &mut TcpStream, request: &Request, reply: &Reply) {
    thread::sleep(reply.pause);
    let headers = reply.headers.iter();
    let headers = headers.map(|(name, value)| format!("{name}: {value}\r\n"));
    let head = format!(
        "HTTP/1.1 {} X\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n",
        reply.status,
        headers.collect::<Vec<_>>().concat(),
        reply.body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    if request.method != "HEAD" {
        let _ = stream.write_all(&reply.body[..reply.sent]);
    }
    let _ = stream.flush();
}
