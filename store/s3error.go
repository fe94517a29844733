package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/config"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// explained is an error in a sentence for people that keeps its cause for
// errors.Is. The cause's own text is left out: it is long, and foreign.
type explained struct {
	sentence string
	cause    error
}

func (e *explained) Error() string { return e.sentence }
func (e *explained) Unwrap() error { return e.cause }

// explain says what is wrong and what helps.
func explain(at Location, err error) error {
	if err == nil {
		return nil
	}
	var response *smithyhttp.ResponseError
	switch {
	case errors.Is(err, errCredentials):
		return &explained{explainCredentials(err), err}
	case errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusMultipleChoices:
		return &explained{explainReply(at, response, err), err}
	default:
		return &explained{explainSilence(at, err), err}
	}
}

// explainReply is about an error that the server sent.
func explainReply(at Location, r *smithyhttp.ResponseError, err error) string {
	switch code(err, r.HTTPStatusCode()) {
	case "NoSuchBucket":
		return fmt.Sprintf("bucket %q does not exist at %s: create it or correct the name", at.Bucket, at.server())
	case "InvalidAccessKeyId", "XAdminUserNotFound":
		return fmt.Sprintf("%s does not know the AWS access key: correct the credentials", at.server())
	case "SignatureDoesNotMatch":
		return fmt.Sprintf("%s refuses the AWS secret key: correct the credentials", at.server())
	case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired", "RequestExpired":
		return "the AWS credentials have expired: renew them (with SSO: aws sso login)"
	case "RequestTimeTooSkewed":
		return fmt.Sprintf("the clocks of this machine and of %s are too far apart: set this machine's clock", at.server())
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException":
		return explainRegion(at, r)
	case "ObjectParentIsFile", "ExistingObjectIsDirectory":
		return "the store cannot hold a key that is a folder of another key"
	}
	return explainStatus(at, r, err)
}

func explainRegion(at Location, r *smithyhttp.ResponseError) string {
	right := "another region"
	if name := r.Response.Header.Get("X-Amz-Bucket-Region"); regionName.MatchString(name) {
		right = "region " + name
	}
	return fmt.Sprintf("bucket %q is not in region %s but in %s: correct the region", at.Bucket, at.Region, right)
}

func explainStatus(at Location, r *smithyhttp.ResponseError, err error) string {
	status := r.HTTPStatusCode()
	code := code(err, status)
	switch {
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return fmt.Sprintf("the AWS credentials do not allow this for bucket %q at %s: "+
			"grant s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject", at.Bucket, at.server())
	case status < http.StatusBadRequest:
		return explainRegion(at, r)
	case status == http.StatusBadRequest && code == "" && strings.HasPrefix(at.Endpoint, "http:"):
		return fmt.Sprintf("%s did not understand the request: if the server speaks https, write the endpoint with https://", at.Endpoint)
	case status < http.StatusInternalServerError && code == "":
		return fmt.Sprintf("%s does not answer as an S3 server does (status %d): correct the endpoint", at.server(), status)
	}
	return strings.TrimSpace(fmt.Sprintf("%s answered with status %d %s", at.server(), status, code))
}

// explainSilence is about a server that sent no reply, or not a proper one.
func explainSilence(at Location, err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	switch {
	case errors.Is(err, errMalformed):
		return fmt.Sprintf("%s does not answer as an S3 server does: correct the endpoint", at.server())
	case errors.As(err, &dns):
		return fmt.Sprintf("cannot find the host %q: correct the endpoint or region, or the network's DNS", dns.Name)
	case errors.As(err, &certificate):
		return fmt.Sprintf("the certificate of %s is not trusted: %s", at.server(), certificateProblem(certificate.Err))
	case errors.As(err, &header), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Sprintf("%s does not speak https: write the endpoint with http://", at.server())
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("%s refuses connections: start the server or correct the endpoint", at.server())
	case errors.Is(err, context.Canceled):
		return "the request was cancelled before " + at.server() + " answered"
	case isTimeout(err):
		return at.server() + " did not answer in time"
	}
	return fmt.Sprintf("no reply from %s: %s", at.server(), root(err))
}

func certificateProblem(err error) string {
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return "add its authority to the system's, or name it in AWS_CA_BUNDLE"
	}
	return root(err)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// root is the text of the first cause, on one line.
func root(err error) string {
	for {
		inner := errors.Unwrap(err)
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			causes := several.Unwrap()
			inner = causes[len(causes)-1]
		}
		if inner == nil {
			return strings.Join(strings.Fields(err.Error()), " ")
		}
		err = inner
	}
}

func explainCredentials(err error) string {
	switch {
	case strings.Contains(err.Error(), "no EC2 IMDS role found"): // the end of the SDK's chain
		return "no AWS credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile"
	case isTimeout(err):
		return "no AWS credentials were found in time: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile"
	}
	return "the AWS credentials cannot be fetched: " + root(err)
}

// explainConfig is about the AWS configuration files.
func explainConfig(err error) error {
	if profile, missing := errors.AsType[config.SharedConfigProfileNotExistError](err); missing {
		return &explained{fmt.Sprintf("the AWS configuration files have no profile %q: add it or correct the name", profile.Profile), err}
	}
	return &explained{"the AWS configuration cannot be read: " + root(err), err}
}

// server names the place for people.
func (at Location) server() string {
	if at.Endpoint != "" {
		return at.Endpoint
	}
	return "AWS (" + at.Region + ")"
}
