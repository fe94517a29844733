package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// record is the content of one version of a key in a directory store. Its file
// begins with a line that says so much about it that listings need no more:
//
//	slap1 live|dead NONCE LENGTH "KEY"
//
// followed by LENGTH bytes of data. A file that is shorter, as a power loss may
// leave it, is damaged: it has a version, so that it can be replaced, but no data.
type record struct {
	key      string
	nonce    string
	dead     bool // a tombstone: the key has no object and this life of it is over
	data     []byte
	modified time.Time
	damaged  bool
}

const (
	recordMagic = "slap1"

	// maxRecordHead holds the first line for the longest key in its longest quoted form.
	maxRecordHead = 4096

	// damagedNonce stands for the nonce of a damaged file; no real nonce is like it.
	damagedNonce = "damaged"
)

// encode is the whole content of the version's file.
func (r record) encode() []byte {
	state := "live"
	if r.dead {
		state = "dead"
	}
	head := fmt.Sprintf("%s %s %s %d %q\n", recordMagic, state, r.nonce, len(r.data), r.key)
	return append([]byte(head), r.data...)
}

// readRecord reads a version's file, without its data if only the head is wanted.
func readRecord(f *os.File, headOnly bool) (record, error) {
	info, err := f.Stat()
	if err != nil {
		return record{}, err
	}
	content, err := readStart(f, info.Size(), headOnly)
	if err != nil {
		return record{}, err
	}
	line, data, _ := bytes.Cut(content, []byte("\n"))
	r, length, ok := parseHead(string(line))
	if !ok || int64(len(line))+1+length != info.Size() {
		r = record{key: r.key, nonce: damagedNonce, damaged: true}
	}
	r.modified = info.ModTime()
	if !headOnly && !r.damaged {
		r.data = data
	}
	return r, nil
}

func readStart(f *os.File, size int64, headOnly bool) ([]byte, error) {
	if headOnly {
		size = min(size, maxRecordHead)
	}
	content := make([]byte, size)
	n, err := io.ReadFull(f, content)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return content[:n], err
}

func parseHead(line string) (r record, length int64, ok bool) {
	fields := strings.SplitN(line, " ", 5)
	if len(fields) != 5 || fields[0] != recordMagic || fields[1] != "live" && fields[1] != "dead" {
		return record{}, 0, false
	}
	length, err := strconv.ParseInt(fields[3], 10, 64)
	if err != nil || length < 0 {
		return record{}, 0, false
	}
	key, err := strconv.Unquote(fields[4])
	if err != nil {
		return record{}, 0, false
	}
	return record{key: key, nonce: fields[2], dead: fields[1] == "dead"}, length, true
}
