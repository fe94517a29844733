package httpapi

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// status is what the page shows.
type status struct {
	shardmap.Map
	Store, Legend                      string
	Uptime                             time.Duration
	NotReady                           string
	Acknowledged, NotExecuted, Unknown int64
}

func (s *Service) page(w http.ResponseWriter, _ *http.Request) {
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, status{
		Map:          s.shardMap(),
		Store:        s.config.Store,
		Legend:       shardmap.Legend,
		Uptime:       time.Since(s.began).Round(time.Second),
		NotReady:     s.notReady(),
		Acknowledged: s.outcomes.acknowledged.Load(),
		NotExecuted:  s.outcomes.notExecuted.Load(),
		Unknown:      s.outcomes.unknown.Load(),
	})
	if err != nil {
		fail(w, http.StatusInternalServerError, problem{codeUnavailable, notExecuted, err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = page.WriteTo(w) // fails only when the client is gone
}
