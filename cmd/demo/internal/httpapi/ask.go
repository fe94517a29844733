package httpapi

import (
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap"
)

// ask brings the child's answer. When there is none, the error is answered and
// the second result is false. A client that goes away ends the wait, not the
// request: what had begun is unknown to it.
func ask[T proto.Message](s *Service, w http.ResponseWriter, r *http.Request, shard int, child string, request proto.Message) (T, bool) {
	answer, err := s.config.Cluster.Ask(r.Context(), shard, child, request)
	typed, ok := answer.(T)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %T", slap.ErrWrongAnswer, answer)
	}
	s.outcomes.count(r.Context(), err)
	if err != nil {
		p := describe(err)
		fail(w, p.status(), p)
	}
	return typed, err == nil
}
