package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap"
)

// way is one of the ways to a shard: to a child by [slap.Cluster.Ask], to a handler by
// [slap.Cluster.Call].
type way func(ctx context.Context, shard int, target string, request proto.Message, opts ...slap.CallOption) (proto.Message, error)

// ask brings the target's answer. When there is none, the error is answered and
// the second result is false. A client that goes away ends the wait, not the
// request: what had begun is unknown to it.
func ask[T proto.Message](w http.ResponseWriter, r *http.Request, by way, shard int, target string, request proto.Message) (T, bool) {
	answer, err := by(r.Context(), shard, target, request)
	typed, ok := answer.(T)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %T", slap.ErrWrongAnswer, answer)
	}
	if err != nil {
		p := describe(err)
		fail(w, p.status(), p)
	}
	return typed, err == nil
}
