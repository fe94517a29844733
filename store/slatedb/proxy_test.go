package slatedb

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

func TestProxyOptions(t *testing.T) {
	through := func(*http.Request) (*url.URL, error) { return url.Parse("http://proxy.example:3128") }
	direct := func(*http.Request) (*url.URL, error) { return nil, nil }
	broken := func(*http.Request) (*url.URL, error) { return nil, errors.New("bad proxy") }
	for _, v := range proxyVariables {
		t.Setenv(v, "")
	}
	got, err := proxyOptions("https://s3.example", through)
	require.NoError(t, err)
	require.Empty(t, got, "no variable, no option")

	for _, v := range proxyVariables {
		t.Setenv(v, "http://proxy.example:3128")
		got, err = proxyOptions("https://s3.example", through)
		require.NoError(t, err)
		require.Equal(t, map[string]string{
			"proxy_url": "http://proxy.example:3128", "proxy_excludes": "localhost,127.0.0.1,::1",
		}, got, v)
		got, err = proxyOptions("http://[::2]:9000", direct)
		require.NoError(t, err)
		require.Equal(t, map[string]string{
			"proxy_url": "http://127.0.0.1", "proxy_excludes": "localhost,127.0.0.1,::1,::2",
		}, got, v)
		t.Setenv(v, "")
	}
	t.Setenv("HTTP_PROXY", "x")
	_, err = proxyOptions("https://s3.example", broken)
	require.ErrorContains(t, err, "proxy for the object store: bad proxy")
	_, err = proxyOptions(":", through)
	require.ErrorContains(t, err, "endpoint of the object store")
}

func TestEndpointOf(t *testing.T) {
	require.Equal(t, "http://127.0.0.1:9000", endpointOf(store.Location{Region: "r", Endpoint: "http://127.0.0.1:9000"}))
	require.Equal(t, "https://s3.eu-west-1.amazonaws.com", endpointOf(store.Location{Region: "eu-west-1"}))
}
