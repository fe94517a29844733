# The workloads of workload.go on the engine's own Python binding.
import asyncio
import json
import sys
import time

from slatedb.uniffi import DbBuilder, FlushType, ObjectStore, Settings, WriteBatch


def key_list(w):
    return [i.to_bytes(w["key_bytes"], "big") for i in range(w["keys"])]


async def load(db, w, keys):
    value = bytes(w["value"])
    for at in range(0, len(keys), 1000):
        batch = WriteBatch()
        for key in keys[at : at + 1000]:
            batch.put(key, value)
        await db.write(batch)


async def put(db, w, keys, start, end):
    value, n, total = bytes(w["value"]), 0, len(keys)
    while time.perf_counter() < end:
        await db.put(keys[(start + n) % total], value)
        n += 1
    return n


async def get(db, w, keys, start, end):
    n, total = 0, len(keys)
    while time.perf_counter() < end:
        if await db.get(keys[(start + n) % total]) is None:
            raise KeyError("a key that was written is missing")
        n += 1
    return n


async def batch(db, w, keys, start, end):
    value, n, total, size = bytes(w["value"]), 0, len(keys), w["batch"]
    while time.perf_counter() < end:
        writes = WriteBatch()
        for j in range(n * size, (n + 1) * size):
            writes.put(keys[(start + j) % total], value)
        await db.write(writes)
        n += 1
    return n


async def drive(db, w, keys, seconds):
    caller = {"put": put, "get": get, "batch": batch}[w["work"]]
    begin = time.perf_counter()
    starts = [i * len(keys) // w["in_flight"] for i in range(w["in_flight"])]
    done = await asyncio.gather(*(caller(db, w, keys, s, begin + seconds) for s in starts))
    return {"operations": sum(done), "seconds": time.perf_counter() - begin}


async def run(w):
    settings = Settings.default()
    for key, value in w["settings"].items():
        settings.set(key, json.dumps(value))
    builder = DbBuilder("bench", ObjectStore.resolve("memory:///"))
    builder.with_settings(settings)
    db = await builder.build()
    keys = key_list(w)
    if w["work"] == "get":
        await load(db, w, keys)
    await drive(db, w, keys, w["warmup"])
    answer = await drive(db, w, keys, w["seconds"])
    await db.shutdown()
    return answer


for line in sys.stdin:
    try:
        answer = asyncio.run(run(json.loads(line)))
    except Exception as e:
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer), flush=True)
