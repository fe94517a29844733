package slatedb

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/slap-go/slap/store"
)

// proxyVariables make the engine use a proxy, for loopback addresses too.
var proxyVariables = []string{
	"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy",
}

// loopback are the hosts that no proxy leads to, as the engine writes them.
const loopback = "localhost,127.0.0.1,::1"

// endpointOf is the URL that the engine sends its requests to.
func endpointOf(l store.Location) string {
	return cmp.Or(l.Endpoint, "https://s3."+l.Region+".amazonaws.com")
}

// proxyOptions are the engine's options that make it reach an endpoint as Go's
// own clients do: through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY
// give for it, and loopback without one. Left alone the engine would send the
// requests for credentials of this process to the proxy.
func proxyOptions(endpoint string, proxyFor func(*http.Request) (*url.URL, error)) (map[string]string, error) {
	if !anySet(proxyVariables) {
		return nil, nil
	}
	to, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint of the object store: %w", err)
	}
	proxy, err := proxyFor(&http.Request{URL: to})
	if err != nil {
		return nil, fmt.Errorf("proxy for the object store: %w", err)
	}
	if proxy == nil { // a proxy for nobody switches the variables off
		return map[string]string{"proxy_url": "http://127.0.0.1", "proxy_excludes": loopback + "," + to.Hostname()}, nil
	}
	return map[string]string{"proxy_url": proxy.String(), "proxy_excludes": loopback}, nil
}

func anySet(variables []string) bool {
	for _, v := range variables {
		if os.Getenv(v) != "" {
			return true
		}
	}
	return false
}
