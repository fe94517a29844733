package store_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

// options reach the bucket of a server.
func options(endpoint string) store.S3Options {
	return store.S3Options{Bucket: "bucket", Region: s3test.Region, Endpoint: endpoint, Credentials: static}
}

// mustSay opens a store that cannot be opened: one sentence, soon after [store.OpenTimeout]
// at the latest, which is under the ten seconds that are promised.
func mustSay(t *testing.T, s store.Store, want string) {
	t.Helper()
	start := time.Now()
	b, err := s.Open(context.Background())
	if err == nil {
		_ = b.Close()
		t.Fatal("the store was opened")
	}
	if b != nil {
		t.Error("a bucket came with the error")
	}
	if took := time.Since(start); took > store.OpenTimeout+20*time.Second || store.OpenTimeout >= 10*time.Second {
		t.Errorf("the error took %s", took)
	}
	text := err.Error()
	t.Log(text)
	if !strings.Contains(text, want) || strings.Contains(text, "\n") || len(text) > 300 {
		t.Errorf("not one sentence about %q: %s", want, text)
	}
	if strings.Contains(text, s3test.SecretKey) || strings.Contains(text, s3test.AccessKey) {
		t.Errorf("the error shows credentials: %s", text)
	}
}

// silent accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String()
}

// closed is an address where nobody listens, and which no listener of a test gets.
const closed = "http://127.0.0.1:1"

func serve(t *testing.T, start func(http.Handler) *httptest.Server, status int, body string) string {
	t.Helper()
	server := start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	return server.URL
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	plain, secure := httptest.NewServer, httptest.NewTLSServer
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, o *store.S3Options)
		want   string
	}{
		{"missing bucket", func(_ *testing.T, o *store.S3Options) { o.Bucket = "nowhere" }, `bucket "nowhere" does not exist at http://127.0.0.1`},
		{"no bucket", func(_ *testing.T, o *store.S3Options) { o.Bucket = "" }, "needs a bucket"},
		{"bucket name", func(_ *testing.T, o *store.S3Options) { o.Bucket = "a/b" }, "not a bucket name"},
		{"prefix", func(_ *testing.T, o *store.S3Options) { o.Prefix = "a//b" }, "prefix"},
		{"access key", func(_ *testing.T, o *store.S3Options) { o.Credentials = key("other", s3test.SecretKey) }, "does not know the AWS access key"},
		{"secret key", func(_ *testing.T, o *store.S3Options) { o.Credentials = key(s3test.AccessKey, "other") }, "refuses the AWS secret key"},
		{"failing provider", func(_ *testing.T, o *store.S3Options) { o.Credentials = failing{} }, "cannot be fetched: the vault is sealed"},
		{"hanging provider", func(_ *testing.T, o *store.S3Options) { o.Credentials, o.RequestTimeout = hanging{}, 2*time.Second }, "no AWS credentials were found in time"},
		{"region", func(_ *testing.T, o *store.S3Options) { o.Region = "eu-central-1" }, "correct the region"},
		{"region name", func(_ *testing.T, o *store.S3Options) { o.Region = "us east" }, "not an AWS region"},
		{"refused", func(_ *testing.T, o *store.S3Options) { o.Endpoint = closed }, "refuses connections: start the server or correct the endpoint"},
		{"silent", func(t *testing.T, o *store.S3Options) { o.Endpoint, o.RequestTimeout = silent(t), 2*time.Second }, "did not answer in time"},
		{"silent, default timeout", func(t *testing.T, o *store.S3Options) { o.Endpoint = silent(t) }, "did not answer in time"},
		{"unroutable", func(_ *testing.T, o *store.S3Options) { o.Endpoint = "http://192.0.2.1:9000" }, "http://192.0.2.1:9000"},
		{"host", func(_ *testing.T, o *store.S3Options) { o.Endpoint = "http://no-such-host.invalid" }, `"no-such-host.invalid"`},
		{"endpoint without scheme", func(_ *testing.T, o *store.S3Options) { o.Endpoint = "127.0.0.1:9000" }, "endpoint must be a URL"},
		{"endpoint with credentials", func(_ *testing.T, o *store.S3Options) { o.Endpoint = "http://testkey:testsecret@127.0.0.1" }, "contains credentials"},
		{"https on http", func(_ *testing.T, o *store.S3Options) { o.Endpoint = "https" + strings.TrimPrefix(o.Endpoint, "http") }, "write the endpoint with http://"},
		{"http on https", func(t *testing.T, o *store.S3Options) {
			o.Endpoint = "http" + strings.TrimPrefix(serve(t, secure, 200, ""), "https")
		}, "write the endpoint with https://"},
		{"unknown authority", func(t *testing.T, o *store.S3Options) { o.Endpoint = serve(t, secure, 200, "") }, "is not trusted: add its authority"},
		{"web server", func(t *testing.T, o *store.S3Options) { o.Endpoint = serve(t, plain, 200, "<html></html>") }, "does not answer as an S3 server"},
		{"web server, not found", func(t *testing.T, o *store.S3Options) { o.Endpoint = serve(t, plain, 404, "<html></html>") }, "does not answer as an S3 server does (status 404)"},
		{"other paths", func(_ *testing.T, o *store.S3Options) { o.Endpoint += "/elsewhere" }, "does not exist"},
		{"negative timeout", func(_ *testing.T, o *store.S3Options) { o.RequestTimeout = -1 }, "must be positive"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := options(server.Endpoint)
			tc.change(t, &o)
			mustSay(t, store.S3(o), tc.want)
		})
	}
}

// Answers that the test server does not give.
func TestOpenSaysWhatTheServerMeans(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	for _, tc := range []struct {
		name  string
		fault s3test.Fault
		want  string
	}{
		{"access denied", s3test.Status(403, "AccessDenied"), "grant s3:ListBucket"},
		{"forbidden by a proxy", s3test.Status(403, ""), "grant s3:ListBucket"},
		{"other region", s3test.Status(301, "PermanentRedirect"), "is not in region us-east-1 but in another region"},
		{"other region, named", moved, "is not in region us-east-1 but in region eu-west-1"},
		{"clock", s3test.Status(403, "RequestTimeTooSkewed"), "set this machine's clock"},
		{"expired", s3test.Status(400, "ExpiredToken"), "have expired: renew them"},
		{"unheard of", s3test.Status(418, "Teapot"), "answered with status 418 Teapot"},
		{"cut", s3test.Drop, "no reply from http://127.0.0.1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			proxy := s3test.NewProxy(t, server)
			proxy.Inject(s3test.Rule{Fault: tc.fault})
			o := options(proxy.Endpoint)
			mustSay(t, store.S3(o), tc.want)
		})
	}
}

// The time that is over says less than a try before did.
func TestOpenSaysWhatWasSeenBeforeTheTimeWasOver(t *testing.T) {
	t.Parallel()
	proxy := s3test.NewProxy(t, s3test.Start(t, "bucket"))
	proxy.Inject(s3test.Rule{Fault: s3test.Drop, Times: 4}) // the client of HTTP tries again by itself, too
	proxy.Inject(s3test.Rule{Fault: s3test.Hang})
	t.Cleanup(proxy.Clear)
	mustSay(t, store.S3(options(proxy.Endpoint)), "no reply from http://127.0.0.1")
}

func moved(x *s3test.Exchange) {
	x.Reply(&http.Response{
		StatusCode: http.StatusMovedPermanently, Header: http.Header{"X-Amz-Bucket-Region": {"eu-west-1"}}, Body: http.NoBody,
	})
}

// A start-up hiccup is no reason to refuse: what a server says of itself passes.
func TestOpenWaitsForABusyServer(t *testing.T) {
	t.Parallel()
	proxy := s3test.NewProxy(t, s3test.Start(t, "bucket"))
	proxy.Inject(s3test.Rule{Fault: s3test.Status(503, "SlowDown"), Times: 3})
	open(t, proxy.Store("bucket", ""))
}

func TestOpenHonoursItsContext(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, enough)
	defer cancel()
	if _, err := store.S3(options(silent(t))).Open(ctx); !errors.Is(err, enough) {
		t.Errorf("it ended for another reason: %v", err)
	}
}

func key(id, secret string) aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(id, secret, "")
}

type failing struct{}

func (failing) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, errors.New("the vault is sealed")
}

type hanging struct{}

func (hanging) Retrieve(ctx context.Context) (aws.Credentials, error) {
	<-ctx.Done()
	return aws.Credentials{}, ctx.Err()
}

// withoutAWS hides the machine's own AWS configuration, and makes one of the
// given files.
func withoutAWS(t *testing.T, config, shared string) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": shared} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, file)
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func TestOpenWithoutCredentials(t *testing.T) {
	withoutAWS(t, "", "")
	server := s3test.Start(t, "bucket")
	o := options(server.Endpoint)
	o.Credentials = nil
	mustSay(t, store.S3(o), "no AWS credentials were found: set AWS_ACCESS_KEY_ID")
}

// The chain's last hope is the metadata service, which may be silent elsewhere.
func TestOpenWithSilentMetadataService(t *testing.T) {
	withoutAWS(t, "", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", silent(t))
	o := options("http://127.0.0.1:9000")
	o.Credentials, o.RequestTimeout = nil, 2*time.Second
	mustSay(t, store.S3(o), "no AWS credentials were found")
	// The SDK's fetch is not of this call alone; it ends by itself.
	eventually(t, func() bool { return !strings.Contains(stacks(), "singleflight") })
}

func stacks() string {
	all := make([]byte, 1<<20)
	return string(all[:runtime.Stack(all, true)])
}

func TestOpenWithoutRegion(t *testing.T) {
	withoutAWS(t, "", "")
	o := options("http://127.0.0.1:9000")
	o.Region = ""
	mustSay(t, store.S3(o), "no AWS region is set: add region=")
}

func TestOpenWithBadProfile(t *testing.T) {
	withoutAWS(t, "[profile broken]\nrole_arn = arn:aws:iam::1:role/x\ncredential_source = Nowhere\n", "")
	o := options("http://127.0.0.1:9000")
	o.Credentials = nil
	o.Profile = "nobody"
	mustSay(t, store.S3(o), `no profile "nobody"`)
	o.Profile = "broken"
	mustSay(t, store.S3(o), "the AWS configuration cannot be read")
}

func TestLocationReadsTheProfile(t *testing.T) {
	server := s3test.Start(t, "bucket")
	withoutAWS(t,
		"[profile blue]\nregion = us-east-1\nendpoint_url = "+server.Endpoint+"\n",
		"[blue]\naws_access_key_id = testkey\naws_secret_access_key = testsecret\n")
	t.Setenv("AWS_ACCESS_KEY_ID", "of another profile")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of another profile")
	s := store.S3(store.S3Options{Bucket: "bucket", Prefix: "/a/b/", Profile: "blue"})
	at, err := s.Location(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := store.Location{
		Kind: store.KindS3, Bucket: "bucket", Prefix: "a/b", Region: "us-east-1",
		Endpoint: server.Endpoint, RequestTimeout: store.DefaultRequestTimeout, Credentials: at.Credentials,
	}
	if at != want {
		t.Errorf("location %+v; want %+v", at, want)
	}
	c, err := at.Credentials.Retrieve(t.Context())
	if err != nil || c.AccessKeyID != s3test.AccessKey {
		t.Errorf("credentials of %q, %v", c.AccessKeyID, err)
	}
	open(t, s)
}

func TestLocationReadsTheEnvironment(t *testing.T) {
	withoutAWS(t, "", "")
	t.Setenv("AWS_REGION", "eu-west-1")
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "token")
	at, err := store.S3(store.S3Options{Bucket: "bucket"}).Location(t.Context())
	if err != nil || at.Region != "eu-west-1" || at.Endpoint != "http://127.0.0.1:9000" {
		t.Fatalf("location %+v, %v", at, err)
	}
	if c, err := at.Credentials.Retrieve(t.Context()); err != nil || c.SessionToken != "token" {
		t.Errorf("session token %q, %v", c.SessionToken, err)
	}
	at, err = store.S3(store.S3Options{Bucket: "bucket", Region: "us-east-1", Endpoint: "http://127.0.0.1:9001"}).Location(t.Context())
	if err != nil || at.Region != "us-east-1" || at.Endpoint != "http://127.0.0.1:9001" {
		t.Fatalf("the options lost to the environment: %+v, %v", at, err)
	}
}

// A location is resolved without any request, even where the SDK would like to
// ask the instance for its region and mode.
func TestLocationSendsNothing(t *testing.T) {
	withoutAWS(t, "", "")
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
	t.Setenv("AWS_DEFAULTS_MODE", "auto")
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	at, err := store.S3(store.S3Options{Bucket: "bucket", Region: "us-east-1"}).Location(t.Context())
	if err != nil || asked || at.Credentials == nil {
		t.Errorf("asked=%t, %+v, %v", asked, at, err)
	}
}
