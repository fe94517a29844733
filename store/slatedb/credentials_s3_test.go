package slatedb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
)

// TestCredentialsThatExpire writes while the credentials expire again and again,
// to two stores with different ones: nobody notices.
func TestCredentialsThatExpire(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	lives, rounds := 2*time.Second, 3
	if stress() {
		rounds = 20
	}
	var writers sync.WaitGroup
	for i := range 2 {
		g := s3test.NewGatekeeper(t, server)
		s := openStore(t, g.Store("bucket", "prefix", lives))
		db := openDB(t, s, fmt.Sprint("db", i), manual())
		writers.Go(func() {
			for g.Used() < rounds {
				_, err := db.Put(t.Context(), []byte("k"), []byte("v"), nil)
				if err == nil {
					err = db.Flush(t.Context(), WAL)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
			t.Logf("%d credentials were used, %d requests came with expired ones", g.Used(), g.Rejected())
		})
	}
	writers.Wait()
}

func init() { tasks["proxy"] = useStoreThroughProxy }

// TestProxyVariables opens a database while the environment names a proxy that is
// not there. Requests to loopback go to no proxy: neither those for credentials
// nor those to the store.
func TestProxyVariables(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	self, err := os.Executable()
	require.NoError(t, err)
	for _, variable := range []string{"HTTP_PROXY", "ALL_PROXY", "http_proxy"} {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), taskVariable+"=proxy", variable+"=http://127.0.0.1:9", "SLATEDB_TEST_ENDPOINT="+server.Endpoint)
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Equal(t, "opened\n", string(output), variable)
	}
}

// useStoreThroughProxy has credentials that expire but are those of the server.
func useStoreThroughProxy() int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{
			AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
			CanExpire: true, Expires: time.Now().Add(time.Hour),
		}, nil
	})
	s, err := NewObjectStore(ctx, store.S3(store.S3Options{
		Bucket: "bucket", Region: s3test.Region, Endpoint: os.Getenv("SLATEDB_TEST_ENDPOINT"), Credentials: keys,
	}))
	if err == nil {
		var db *DB
		if db, err = Open(ctx, s, "db", nil); err == nil {
			err = db.Close(ctx, nil)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("opened")
	return 0
}
