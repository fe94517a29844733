//! The workloads of workload.go on the engine's own crate: one JSON line in, one out.

use std::error::Error;
use std::io::{stdin, stdout, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::{FuturesUnordered, StreamExt};
use serde::Deserialize;
use serde_json::{json, Map, Value};
use slatedb::object_store::memory::InMemory;
use slatedb::{Db, Settings, WriteBatch};

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Deserialize)]
struct Workload {
    work: String,
    one: bool,
    in_flight: usize,
    keys: usize,
    key_bytes: usize,
    value: usize,
    settings: Map<String, Value>,
    warmup: f64,
    seconds: f64,
}

/// What the tasks of a workload share.
struct Bench {
    db: Db,
    work: Workload,
    keys: Vec<Vec<u8>>,
    value: Vec<u8>,
}

impl Bench {
    async fn open(work: Workload) -> Result<Self, Failure> {
        let mut settings = serde_json::to_value(Settings::default())?;
        for (key, value) in &work.settings {
            settings[key] = value.clone();
        }
        let db = Db::builder("bench", Arc::new(InMemory::new()))
            .with_settings(serde_json::from_value(settings)?)
            .build()
            .await?;
        let keys = (0..work.keys).map(|i| key(i, work.key_bytes)).collect();
        let value = vec![0; work.value];
        Ok(Self { db, work, keys, value })
    }

    async fn load(&self) -> Result<(), Failure> {
        for keys in self.keys.chunks(1000) {
            let mut batch = WriteBatch::new();
            for key in keys {
                batch.put(key, &self.value);
            }
            self.db.write(batch).await?;
        }
        Ok(())
    }

    async fn operate(&self, i: usize) -> Result<(), Failure> {
        let key = &self.keys[i % self.keys.len()];
        match self.work.work.as_str() {
            "put" => {
                self.db.put(key, &self.value).await?;
            }
            "get" => {
                self.db.get(key).await?.ok_or("a key that was written is missing")?;
            }
            other => return Err(format!("unknown work {other}").into()),
        }
        Ok(())
    }

    /// One task with one operation in flight; it walks through the keys from a start of its own.
    async fn walk(self: Arc<Self>, id: usize, stop: Arc<AtomicBool>) -> Result<usize, Failure> {
        let start = id * self.keys.len() / self.work.in_flight;
        let mut n = 0;
        while !stop.load(Ordering::Relaxed) {
            self.operate(start + n).await?;
            n += 1;
        }
        Ok(n)
    }

    /// One task with all operations in flight.
    async fn fly(self: Arc<Self>, stop: Arc<AtomicBool>) -> Result<usize, Failure> {
        let mut flying = FuturesUnordered::new();
        let mut n = 0;
        while n < self.work.in_flight {
            flying.push(self.operate(n));
            n += 1;
        }
        while let Some(done) = flying.next().await {
            done?;
            if !stop.load(Ordering::Relaxed) {
                flying.push(self.operate(n));
                n += 1;
            }
        }
        Ok(n)
    }

    /// Works for a while in the workload's shape and returns the operations and the seconds.
    async fn drive(self: &Arc<Self>, seconds: f64) -> Result<(usize, f64), Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let begin = Instant::now();
        let mut tasks = Vec::new();
        if self.work.one {
            tasks.push(tokio::spawn(self.clone().fly(stop.clone())));
        } else {
            for id in 0..self.work.in_flight {
                tasks.push(tokio::spawn(self.clone().walk(id, stop.clone())));
            }
        }
        let timer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs_f64(seconds));
            stop.store(true, Ordering::Relaxed);
        });
        let mut operations = 0;
        for task in tasks {
            operations += task.await??;
        }
        let elapsed = begin.elapsed().as_secs_f64();
        timer.join().map_err(|_| "the timer has panicked")?;
        Ok((operations, elapsed))
    }
}

fn key(i: usize, bytes: usize) -> Vec<u8> {
    let mut key = vec![0; bytes - 8];
    key.extend_from_slice(&(i as u64).to_be_bytes());
    key
}

async fn run(line: String) -> Result<Value, Failure> {
    let bench = Arc::new(Bench::open(serde_json::from_str(&line)?).await?);
    if bench.work.work == "get" {
        bench.load().await?;
    }
    bench.drive(bench.work.warmup).await?;
    let (operations, seconds) = bench.drive(bench.work.seconds).await?;
    bench.db.close().await?;
    Ok(json!({"operations": operations, "seconds": seconds}))
}

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for line in stdin().lock().lines() {
        let answer = runtime.block_on(runtime.spawn(run(line?)))?;
        let answer = answer.unwrap_or_else(|e| json!({"error": e.to_string()}));
        writeln!(stdout(), "{answer}")?;
        stdout().flush()?;
    }
    Ok(())
}
