package slatedb

import "time"

// A Manifest is one version of the list of what a database consists of.
type Manifest struct {
	ID             uint64
	WriterEpoch    uint64 // one more with each writer: the fence
	CompactorEpoch uint64
	Initialized    bool

	L0         []Table     // the newest sorted tables, which may overlap
	SortedRuns []SortedRun // compacted

	NextLogID      uint64 // of the write-ahead log
	ReplayAfterLog uint64 // the log up to here is in sorted tables
	LastL0Seq      uint64 // the last sequence number in sorted tables

	Checkpoints []Checkpoint
}

// A Table is a sorted table.
type Table struct {
	ID                string
	FirstKey, LastKey []byte
	Size              uint64 // bytes, about
}

// A SortedRun is a run of sorted tables that do not overlap.
type SortedRun struct {
	ID     uint32
	Tables []Table
	Size   uint64 // bytes, about
}

func decodeManifest(d *decoder) Manifest {
	m := Manifest{ID: d.u64(), WriterEpoch: d.u64(), CompactorEpoch: d.u64()}
	decodeList(d, skipExternalDB)
	m.Initialized = d.flag()
	d.optionalText() // last compacted view
	d.optionalText() // last compacted table
	m.L0 = decodeList(d, decodeTable)
	m.SortedRuns = decodeList(d, decodeSortedRun)
	decodeList(d, skipSegment)
	m.NextLogID, m.ReplayAfterLog = d.u64(), d.u64()
	d.u64() // clock
	m.LastL0Seq = d.u64()
	d.u64() // oldest snapshot
	m.Checkpoints = decodeList(d, decodeCheckpoint)
	d.optionalText() // the log's own object store
	return m
}

func decodeTable(d *decoder) Table {
	d.text() // view
	t := Table{ID: d.text()}
	decodeTableInfo(d, &t)
	d.u64() // size of the whole table
	if d.flag() {
		skipRange(d)
	}
	t.Size = d.u64()
	return t
}

func decodeTableInfo(d *decoder, t *Table) {
	t.FirstKey, t.LastKey = d.optionalBytes(), d.optionalBytes()
	const offsets = 4 * 8 // of the index and the filter
	d.take(offsets)
	if d.flag() {
		d.u32() // compression
	}
	const rest = 4 + 2*8 + 4 // type, statistics, filter format
	d.take(rest)
}

func skipRange(d *decoder) {
	d.optionalBytes()
	d.flag()
	d.optionalBytes()
	d.flag()
}

func decodeSortedRun(d *decoder) SortedRun {
	return SortedRun{ID: d.u32(), Tables: decodeList(d, decodeTable), Size: d.u64()}
}

func skipSegment(d *decoder) struct{} {
	d.bytes()
	d.optionalText()
	decodeList(d, decodeTable)
	decodeList(d, decodeSortedRun)
	return struct{}{}
}

func skipExternalDB(d *decoder) struct{} {
	d.text()
	d.text()
	d.optionalText()
	decodeList(d, (*decoder).text)
	return struct{}{}
}

func decodeCheckpoint(d *decoder) Checkpoint {
	c := Checkpoint{ID: d.text(), ManifestID: d.u64()}
	if at, ok := d.optionalNumber(); ok {
		c.ExpiresAt = time.Unix(at, 0)
	}
	c.CreatedAt = time.Unix(int64(d.u64()), 0)
	c.Name = d.optionalText()
	return c
}

// The ways to read the results of an Admin.

func (o *op) manifest() (*Manifest, error) {
	return decode(o, func(d *decoder) *Manifest {
		if !d.flag() {
			return nil
		}
		m := decodeManifest(d)
		return &m
	})
}

func (o *op) manifests() ([]Manifest, error) {
	return decode(o, func(d *decoder) []Manifest { return decodeList(d, decodeManifest) })
}

func (o *op) checkpoints() ([]Checkpoint, error) {
	return decode(o, func(d *decoder) []Checkpoint { return decodeList(d, decodeCheckpoint) })
}

func (o *op) newCheckpoint() (Checkpoint, error) {
	return decode(o, func(d *decoder) Checkpoint { return Checkpoint{ID: d.text(), ManifestID: d.u64()} })
}
