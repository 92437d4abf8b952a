//! Runs many pieces of work on all cores and passes on their results in order. A limit
//! bounds the results that wait.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most bytes of results that may wait for earlier ones.
const MOST_WAITING: usize = 64 << 20;

/// The bytes of results after which a worker passes them on.
const MOST_GATHERED: usize = 1 << 20;

/// The most pieces of work that a worker takes at a time. Taking some has a small cost.
const MOST_TAKEN: usize = 64;

/// How long the receiver sleeps before it looks for results. Waking it for each batch would
/// take a core from the workers each time.
const PAUSE: Duration = Duration::from_millis(4);

/// Results that the receiver has not taken yet.
struct WaitingResults<T> {
    /// By the number of their first piece of work.
    results: BTreeMap<usize, Batch<T>>,
    bytes: usize,
    /// Pieces of work whose results were passed on.
    done: usize,
    /// Pieces of work whose results are still to come.
    left: usize,
    /// Workers that wait for room.
    blocked: usize,
    /// Whether a worker ended by a panic.
    is_broken: bool,
}

struct Batch<T> {
    results: Vec<T>,
    /// Pieces of work that they came from.
    pieces: usize,
    bytes: usize,
}

/// The results that workers pass to the receiving thread.
struct ResultQueue<T> {
    waiting: Mutex<WaitingResults<T>>,
    /// Results cannot wait any longer.
    is_urgent: Condvar,
    /// There is room for more results.
    has_room: Condvar,
}

/// Reports on drop that its worker panicked, unless it was switched off.
struct Alarm<'s, T> {
    shared: &'s ResultQueue<T>,
    is_off: bool,
}

/// Does `count` pieces of work on the threads of a pool. It passes the results to `take`
/// on this thread, in the order of the work. `weigh` returns how many bytes a result
/// holds.
pub fn ordered<T: Send>(
    pool: &rayon::ThreadPool,
    count: usize,
    work: impl Fn(usize) -> Option<T> + Sync,
    weigh: impl Fn(&T) -> usize + Sync,
    mut take: impl FnMut(T),
) {
    let next = AtomicUsize::new(0);
    // If there are few pieces, every worker gets some.
    let taken = (count / (8 * pool.current_num_threads().max(1))).clamp(1, MOST_TAKEN);
    let shared = ResultQueue {
        waiting: Mutex::new(WaitingResults {
            results: BTreeMap::new(),
            bytes: 0,
            done: 0,
            left: count,
            blocked: 0,
            is_broken: false,
        }),
        is_urgent: Condvar::new(),
        has_room: Condvar::new(),
    };
    pool.in_place_scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            scope.spawn(|_| {
                let mut alarm = Alarm {
                    shared: &shared,
                    is_off: false,
                };
                loop {
                    let begin = next.fetch_add(taken, Ordering::Relaxed);
                    if begin >= count {
                        break;
                    }
                    let range = begin..(begin + taken).min(count);
                    shared.do_range(range, &work, &weigh);
                }
                alarm.is_off = true;
            });
        }
        shared.take_all(count, &mut take);
    });
}

impl<T> ResultQueue<T> {
    fn lock(&self) -> MutexGuard<'_, WaitingResults<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn do_range(
        &self,
        range: Range<usize>,
        work: &impl Fn(usize) -> Option<T>,
        weigh: &impl Fn(&T) -> usize,
    ) {
        let mut begin = range.start;
        let mut results = Vec::new();
        let mut bytes = 0;
        for piece in range.clone() {
            if let Some(result) = work(piece) {
                bytes += weigh(&result);
                results.push(result);
            }
            if bytes > MOST_GATHERED || piece + 1 == range.end {
                let batch = Batch {
                    results: std::mem::take(&mut results),
                    pieces: piece + 1 - begin,
                    bytes: std::mem::take(&mut bytes),
                };
                self.hand_on(begin, batch);
                begin = piece + 1;
            }
        }
    }

    /// Adds results to the queue, once there is room. The next results in order always
    /// have room, or all workers would wait.
    fn hand_on(&self, begin: usize, batch: Batch<T>) {
        let mut waiting = self.lock();
        while !waiting.is_broken
            && begin != waiting.done
            && waiting.bytes + batch.bytes > MOST_WAITING
        {
            waiting.blocked += 1;
            self.is_urgent.notify_one();
            waiting = self
                .has_room
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
            waiting.blocked -= 1;
        }
        waiting.bytes += batch.bytes;
        waiting.left -= batch.pieces;
        waiting.results.insert(begin, batch);
        let is_urgent = waiting.left == 0 || waiting.blocked > 0;
        drop(waiting);
        if is_urgent {
            self.is_urgent.notify_one();
        }
    }

    fn take_all(&self, count: usize, take: &mut impl FnMut(T)) {
        let mut done = 0;
        while done < count {
            let mut waiting = self.lock();
            let batch = loop {
                if let Some(batch) = waiting.results.remove(&done) {
                    break batch;
                }
                if waiting.is_broken {
                    return;
                }
                (waiting, _) = self
                    .is_urgent
                    .wait_timeout(waiting, PAUSE)
                    .unwrap_or_else(PoisonError::into_inner);
            };
            done += batch.pieces;
            waiting.done = done;
            waiting.bytes -= batch.bytes;
            let is_awaited = waiting.blocked > 0;
            drop(waiting);
            if is_awaited {
                self.has_room.notify_all();
            }
            batch.results.into_iter().for_each(&mut *take);
        }
    }
}

impl<T> Drop for Alarm<'_, T> {
    fn drop(&mut self) {
        if !self.is_off {
            self.shared.lock().is_broken = true;
            self.shared.is_urgent.notify_one();
            self.shared.has_room.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    }

    #[test]
    fn results_come_in_the_order_of_the_work() {
        for threads in [1, 2, 7] {
            for count in [0, 1, 15, 16, 17, 1000] {
                let mut seen = Vec::new();
                ordered(
                    &pool(threads),
                    count,
                    |i| (i % 3 != 0).then_some(i),
                    |i| i * 10_000,
                    |i| seen.push(i),
                );
                let expected: Vec<_> = (0..count).filter(|i| i % 3 != 0).collect();
                assert_eq!(seen, expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn few_large_results_are_there_at_a_time() {
        const LARGE: usize = 30 << 20;
        let there = AtomicU64::new(0);
        let mut most = 0;
        ordered(
            &pool(4),
            200,
            |i| {
                there.fetch_add(1, Ordering::SeqCst);
                Some(i)
            },
            |_| LARGE,
            |_| {
                most = most.max(there.load(Ordering::SeqCst));
                there.fetch_sub(1, Ordering::SeqCst);
            },
        );
        // Two wait, four workers hold one each, and one is being taken.
        assert!(most <= 8, "{most} results at a time");
    }

    #[test]
    fn a_panic_comes_through() {
        let panic = std::panic::catch_unwind(|| {
            ordered(
                &pool(2),
                100,
                |i| {
                    assert!(i != 40, "forty");
                    Some(i)
                },
                |_| 1,
                |_| {},
            );
        });
        assert!(panic.is_err());
    }
}
