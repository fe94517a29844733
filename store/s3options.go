package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// S3Options says how to reach a bucket of an S3-compatible store.
type S3Options struct {
	Bucket string // required
	Prefix string // put in front of every key; slashes at its ends do not count

	// Region and Profile override what the AWS environment and configuration
	// files say. A region is required from one of them.
	Region, Profile string

	// Endpoint is the URL of a server other than AWS. Default: what the AWS
	// environment and configuration files say, else AWS. Such servers are
	// addressed with the bucket in the path unless VirtualHosted is set.
	Endpoint      string
	VirtualHosted bool

	// Credentials overrides the default chain of aws-sdk-go-v2 (environment,
	// profile, SSO, web identity, container and instance roles).
	Credentials aws.CredentialsProvider

	// RequestTimeout bounds one request, ours or the engine's.
	// Default: [DefaultRequestTimeout].
	RequestTimeout time.Duration
}

var (
	bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$`)
	regionName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
)

// check refuses what can be seen to be wrong without asking anybody.
func (o S3Options) check() error {
	switch {
	case o.Bucket == "":
		return errors.New("an S3 store needs a bucket")
	case !bucketName.MatchString(o.Bucket):
		return fmt.Errorf("%q is not a bucket name: use 3 to 63 letters, digits, dots and hyphens", o.Bucket)
	case o.Region != "" && !regionName.MatchString(o.Region):
		return fmt.Errorf("%q is not an AWS region: use a name such as us-east-1", o.Region)
	case o.RequestTimeout < 0:
		return fmt.Errorf("request_timeout is %s: it must be positive", o.RequestTimeout)
	}
	if prefix := o.prefix(); prefix != "" {
		if err := CheckKey(prefix); err != nil {
			return fmt.Errorf("the prefix of an S3 store must be like a key: %w", err)
		}
	}
	return checkEndpoint(o.Endpoint)
}

func (o S3Options) prefix() string { return strings.Trim(o.Prefix, "/") }

// credentials is the given provider, which the SDK puts into a cache unless it is one.
func (o S3Options) credentials() aws.CredentialsProvider {
	if cache, ok := o.Credentials.(*aws.CredentialsCache); ok {
		return cache
	}
	return boundedCredentials{o.Credentials, o.timeout()}
}

func (o S3Options) timeout() time.Duration { return cmp.Or(o.RequestTimeout, DefaultRequestTimeout) }

// checkEndpoint repeats nothing of the endpoint, which may hold a password.
func checkEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("the S3 endpoint must be a URL such as http://127.0.0.1:9000 or https://s3.example.com")
	case u.User != nil:
		return fmt.Errorf("the S3 endpoint contains credentials: %s", useEnvironment)
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the S3 endpoint must end after its host or path: remove the query")
	}
	return nil
}

// location resolves the options as aws-sdk-go-v2 does, without any request.
func (o S3Options) location(ctx context.Context) (Location, aws.Config, error) {
	if err := o.check(); err != nil {
		return Location{}, aws.Config{}, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, o.overrides()...)
	if err != nil {
		return Location{}, aws.Config{}, explainConfig(err)
	}
	if cfg.Region == "" {
		return Location{}, aws.Config{}, errors.New("no AWS region is set: " +
			"add region=… to the store URL, set AWS_REGION or give the profile a region")
	}
	// The client knows about endpoints that are set for S3 alone. Ours must not
	// become the configuration's: it would be the credentials' services' too.
	endpoint := cmp.Or(o.Endpoint, aws.ToString(s3.NewFromConfig(cfg).Options().BaseEndpoint))
	if err := checkEndpoint(endpoint); err != nil {
		return Location{}, aws.Config{}, err
	}
	endpoint = strings.TrimRight(endpoint, "/")
	return Location{
		Kind: KindS3, Bucket: o.Bucket, Prefix: o.prefix(), Region: cfg.Region,
		Endpoint: endpoint, VirtualHosted: o.VirtualHosted,
		Credentials: cfg.Credentials, RequestTimeout: o.timeout(),
	}, cfg, nil
}

// overrides are the options that win over the environment and the files. A fixed
// defaults mode keeps the SDK from asking the instance's metadata service. The
// client's timeout is for services that give credentials.
func (o S3Options) overrides() []func(*config.LoadOptions) error {
	overrides := []func(*config.LoadOptions) error{
		config.WithDefaultsMode(aws.DefaultsModeStandard),
		config.WithLogger(logging.Nop{}),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(o.timeout())),
	}
	if o.Region != "" {
		overrides = append(overrides, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		overrides = append(overrides, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Credentials != nil {
		overrides = append(overrides, config.WithCredentialsProvider(o.credentials()))
	}
	return overrides
}
