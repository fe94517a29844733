package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Limits of a request, in bytes.
const (
	maxKey  = 1 << 10
	maxBody = 1 << 20
)

// methods serves each method of a path by a function of its own, HEAD as GET,
// and answers 405 to the others.
type methods map[string]http.HandlerFunc

// ServeHTTP finds the method's function.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if serve := m[method]; serve != nil {
		serve(w, r)
		return
	}
	w.Header().Set("Allow", m.allowed())
	fail(w, http.StatusMethodNotAllowed, problem{codeMethod, notExecuted, r.Method + " is not for this path"})
}

func (m methods) allowed() string {
	allowed := slices.Sorted(maps.Keys(m))
	if m[http.MethodGet] != nil {
		allowed = append(allowed, http.MethodHead)
	}
	return strings.Join(allowed, ", ")
}

// key is the path's percent-decoded rest.
func key(r *http.Request) (string, error) {
	key := r.PathValue("key")
	switch {
	case key == "":
		return "", errors.New("the key is empty")
	case len(key) > maxKey:
		return "", fmt.Errorf("the key has %d bytes: at most %d are allowed", len(key), maxKey)
	}
	return key, nil
}

func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, fmt.Errorf("the body is too large: at most %d bytes are allowed", maxBody)
	}
	if err != nil {
		return nil, fmt.Errorf("the body cannot be read: %w", err)
	}
	return data, nil
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // fails only when the client is gone
}
