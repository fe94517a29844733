// Package intruder does to a shard what a second instance that was started by mistake
// would do.
package intruder

import (
	"context"
	"errors"
	"fmt"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// Fence opens a shard's database in the engine itself, beside whoever has it open, and
// closes it again. From then on its former writer can write nothing more.
func Fence(ctx context.Context, s store.Store, shard int) (err error) {
	objects, err := slatedb.NewObjectStore(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Close(ctx)) }()
	db, err := open(ctx, objects, fmt.Sprintf("shard-%03d", shard))
	if err != nil {
		return fmt.Errorf("the intruder cannot open shard %d: %w", shard, err)
	}
	err = db.Close(ctx, nil)
	if errors.Is(err, slatedb.ErrClosed) { // fenced in turn
		return nil
	}
	return err
}

// open tries until it is in: the shard may open again at the same moment.
func open(ctx context.Context, objects *slatedb.ObjectStore, path string) (*slatedb.DB, error) {
	for {
		db, err := slatedb.Open(ctx, objects, path, nil)
		if !errors.Is(err, slatedb.ErrFenced) || ctx.Err() != nil {
			return db, err
		}
	}
}
