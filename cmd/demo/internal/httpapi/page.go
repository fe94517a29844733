package httpapi

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/journal"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// status is what the page shows.
type status struct {
	shardmap.Map
	Requests

	Store, Legend string
	Uptime        time.Duration
	NotReady      string
	Events        []journal.Entry // the newest first
}

// pageEvents is how many events the page shows.
const pageEvents = 12

func (s *Service) page(w http.ResponseWriter, _ *http.Request) {
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, status{
		Map:      s.shardMap(),
		Requests: s.config.Requests(),
		Store:    s.config.Store,
		Legend:   shardmap.Legend,
		Uptime:   time.Since(s.began).Round(time.Second),
		NotReady: s.notReady(),
		Events:   s.newest(),
	})
	if err != nil {
		fail(w, http.StatusInternalServerError, problem{codeUnavailable, notExecuted, err.Error()})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = page.WriteTo(w) // fails only when the client is gone
}

func (s *Service) newest() []journal.Entry {
	entries := s.config.Journal.Entries()
	slices.Reverse(entries)
	return entries[:min(len(entries), pageEvents)]
}
