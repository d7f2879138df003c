// Stands in for the kubelets of all nodes where the API server asks them to run a command in a container (`kubectl exec`):
// the command runs on this machine, with this program's environment and POD_NAMESPACE, POD_NAME and CONTAINER.
//
//	kubelet ADDRESS
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	protocols "k8s.io/apimachinery/pkg/util/remotecommand"
	terminal "k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	ended "k8s.io/utils/exec"
)

type local struct{}

// ExecInContainer runs argv until its end; `pod` is NAMESPACE/NAME.
func (local) ExecInContainer(ctx context.Context, pod string, _ types.UID, container string, argv []string, in io.Reader,
	out, err io.WriteCloser, _ bool, _ <-chan terminal.TerminalSize, _ time.Duration) error {
	namespace, name, _ := strings.Cut(pod, "/")
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env = append(os.Environ(), "POD_NAMESPACE="+namespace, "POD_NAME="+name, "CONTAINER="+container)
	command.Stdin, command.WaitDelay = in, time.Second
	if out != nil {
		command.Stdout = out
	}
	if err != nil {
		command.Stderr = err
	}
	failure := command.Run()
	var exit *exec.ExitError
	if errors.As(failure, &exit) {
		return ended.CodeExitError{Err: failure, Code: exit.ExitCode()}
	}
	if errors.Is(failure, exec.ErrNotFound) {
		return ended.CodeExitError{Err: failure, Code: 127} // a shell's number for it
	}
	return failure
}

func serve(answer http.ResponseWriter, request *http.Request) {
	options, err := remotecommand.NewOptions(request)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	pod := request.PathValue("namespace") + "/" + request.PathValue("pod")
	remotecommand.ServeExec(answer, request, local{}, pod, "", request.PathValue("container"), request.URL.Query()["command"],
		options, time.Hour, time.Minute, protocols.SupportedStreamingProtocols)
}

// A certificate for this run; the API server does not look at it.
func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func main() {
	http.HandleFunc("/exec/{namespace}/{pod}/{container}", serve)
	server := http.Server{Addr: os.Args[1], TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate()}}}
	log.Fatal(server.ListenAndServeTLS("", ""))
}
