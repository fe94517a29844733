package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
)

// ignoresConditions is an S3 server that does whatever it is asked, on no condition.
func ignoresConditions(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("demo"))
	s3 := gofakes3.New(backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-Match")
		r.Header.Del("If-None-Match")
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
