package s3test

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"
)

// Fault decides what happens to a request. It may apply it, answer it, both in
// any order or neither.
type Fault func(*Exchange)

// Exchange is a request that met a fault.
type Exchange struct {
	Request Request

	w         http.ResponseWriter
	r         *http.Request
	injection *Injection
}

// Forward passes the request on and its reply back.
func (x *Exchange) Forward() { x.injection.proxy.forward.ServeHTTP(x.w, x.r) }

// Apply passes the request on, even if the client has left, and keeps the reply.
func (x *Exchange) Apply() *http.Response {
	recorder := httptest.NewRecorder()
	ctx := context.WithoutCancel(x.r.Context())
	x.injection.proxy.forward.ServeHTTP(recorder, x.r.WithContext(ctx))
	return recorder.Result()
}

// Reply answers the client with a reply that was kept.
func (x *Exchange) Reply(response *http.Response) {
	body, _ := io.ReadAll(response.Body)
	header := x.w.Header()
	maps.Copy(header, response.Header)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(response.StatusCode)
	_, _ = x.w.Write(body)
}

// Cut closes the connection without an answer. It does not return.
func (x *Exchange) Cut() { panic(http.ErrAbortHandler) }

// Hold waits until the rule is released; the proxy's end cuts the connection.
// What the client sent is read first, so that the request outlives the client.
func (x *Exchange) Hold() {
	body, _ := io.ReadAll(x.r.Body)
	x.r.Body = io.NopCloser(bytes.NewReader(body))
	select {
	case <-x.injection.released:
	case <-x.injection.proxy.ctx.Done():
		x.Cut()
	}
}

// Drop closes the connection; the server never sees the request.
func Drop(x *Exchange) { x.Cut() }

// LoseReply applies the request and closes the connection instead of answering.
func LoseReply(x *Exchange) {
	x.Apply()
	x.Cut()
}

// Hang holds the request until the rule is released and then forgets it.
func Hang(x *Exchange) {
	x.Hold()
	x.Cut()
}

// HoldRequest holds the request until the rule is released and applies it then,
// also if the client has given up.
func HoldRequest(x *Exchange) {
	x.Hold()
	x.Reply(x.Apply())
}

// HoldReply applies the request and holds the reply until the rule is released.
func HoldReply(x *Exchange) {
	reply := x.Apply()
	x.Hold()
	x.Reply(reply)
}

// Delay holds each request for a while and passes it on.
func Delay(d time.Duration) Fault {
	return func(x *Exchange) {
		select {
		case <-time.After(d):
		case <-x.injection.released:
		case <-x.r.Context().Done():
		}
		x.Forward()
	}
}

// Status answers with a status and an S3 error code, without applying the
// request. An empty code gives an answer without a body.
func Status(status int, code string) Fault {
	return func(x *Exchange) { x.fail(status, code) }
}

// ApplyThenStatus applies the request and answers as [Status] does.
func ApplyThenStatus(status int, code string) Fault {
	return func(x *Exchange) {
		x.Apply()
		x.fail(status, code)
	}
}

// ErrorUnder200 answers with an S3 error in the body of a success.
func ErrorUnder200(code string) Fault { return Status(http.StatusOK, code) }

// EmptyReply applies the request and answers 200 with neither headers nor body.
func EmptyReply(x *Exchange) {
	x.Apply()
	x.w.WriteHeader(http.StatusOK)
}

// TruncateReply applies the request and closes the connection in the middle of
// the reply's body.
func TruncateReply(x *Exchange) {
	reply := x.Apply()
	body, _ := io.ReadAll(reply.Body)
	header := x.w.Header()
	maps.Copy(header, reply.Header)
	header.Set("Content-Length", strconv.Itoa(len(body)+1))
	x.w.WriteHeader(reply.StatusCode)
	_, _ = x.w.Write(body[:len(body)/2])
	_ = http.NewResponseController(x.w).Flush()
	x.Cut()
}

// fail answers with an S3 error.
func (x *Exchange) fail(status int, code string) {
	_, _ = io.Copy(io.Discard, x.r.Body)
	if code == "" {
		x.w.WriteHeader(status)
		return
	}
	body, _ := xml.Marshal(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: "injected by the test"})
	x.w.Header().Set("Content-Type", "application/xml")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
}
