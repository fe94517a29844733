package slatedb

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func encodeRow(r Row) []byte {
	b := appendBytes(nil, r.Key)
	b = appendBytes(b, r.Value)
	b = binary.BigEndian.AppendUint64(b, r.Seq)
	b = binary.BigEndian.AppendUint64(b, uint64(r.CreatedAt.UnixMilli()))
	if r.ExpiresAt.IsZero() {
		return append(b, 0)
	}
	return append(b, optionalNumber(uint64(r.ExpiresAt.UnixMilli()))...)
}

func TestRowsAreDecoded(t *testing.T) {
	want := Row{
		Key: []byte("k"), Value: []byte{}, Seq: 7,
		CreatedAt: time.UnixMilli(1_700_000_000_123), ExpiresAt: time.UnixMilli(1_800_000_000_000),
	}
	record := encodeRow(want)
	d := decoder{rest: record}
	require.Equal(t, want, decodeRow(&d))
	require.False(t, d.short)
	require.Empty(t, d.rest)
	for n := range record {
		d = decoder{rest: record[:n]}
		decodeRow(&d)
		require.True(t, d.short, "of %d bytes", n)
	}
}

func TestErrorsAreDecoded(t *testing.T) {
	record := binary.BigEndian.AppendUint32(nil, uint32(KindClosed))
	record = binary.BigEndian.AppendUint32(record, uint32(ReasonFenced))
	record = appendBytes(record, []byte("newer client"))
	err := decodeError(codeError, record)
	require.ErrorIs(t, err, ErrFenced)
	require.ErrorIs(t, err, ErrClosed)
	require.NotErrorIs(t, err, ErrData)
	require.EqualError(t, err, "slatedb: closed (fenced): newer client")

	for kind, class := range map[Kind]error{
		KindConflict: ErrConflict, KindUnavailable: ErrUnavailable, KindInvalid: ErrInvalid,
		KindData: ErrData, KindInternal: ErrInternal,
	} {
		err := decodeError(codeError, appendBytes(binary.BigEndian.AppendUint32(nil, uint32(kind)), []byte("why")))
		require.ErrorIs(t, err, class)
		require.NotErrorIs(t, err, ErrClosed)
		require.ErrorContains(t, err, "why")
	}
	require.ErrorIs(t, decodeError(codePanic, []byte("boom")), ErrInternal)
	require.ErrorContains(t, decodeError(codePanic, []byte("boom")), "boom")
	require.ErrorIs(t, decodeError(codeCancelled, nil), ErrInternal)
	require.ErrorIs(t, decodeError(codeError, []byte{0, 0, 0, 99}), ErrInternal)
	require.NoError(t, decodeError(codeDone, nil))
	require.Equal(t, "unknown", ReasonUnknown.String())
}

// Whatever the engine answers, decoding neither panics nor allocates without bound.
func FuzzDecode(f *testing.F) {
	row := encodeRow(Row{Key: []byte("k"), Value: []byte("v")})
	f.Add(append(binary.BigEndian.AppendUint32(nil, 1), row...))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, record []byte) {
		for _, read := range []func(*decoder){
			func(d *decoder) { decodeList(d, decodeRow) },
			func(d *decoder) { decodeList(d, decodeManifest) },
			func(d *decoder) { decodeList(d, decodeCheckpoint) },
		} {
			d := decoder{rest: record}
			read(&d)
			if !d.short && len(d.rest) > len(record) {
				t.Fatal("read more than there was")
			}
		}
		var e *Error
		if err := decodeTypedError(record); !errors.As(err, &e) {
			t.Fatal(err)
		}
		decodeLogRecord(record)
		decodeLabels(record)
		decodeBounds(record)
	})
}
