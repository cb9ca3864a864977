// The floor in Go: what benchmarks/floor.py does, for new users.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	apiVersion = "lldap-operator.lukidoescode.com/v1alpha1"
	createUser = "mutation($user: CreateUserInput!) { createUser(user: $user) { id uuid } }"
	finalizer  = "lldap-operator.lukidoescode.com/user-cleanup"
)

type job struct {
	Work, API, CA, Token, Namespace, Lldap string
	Password                               string `json:"lldap_password"`
	Threads                                int
}

type object struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		Generation                            int
	}
	Spec struct{ Username, Email, DisplayName string }
}

type fields = map[string]any

type client struct {
	http  *http.Client
	job   job
	token string
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func (c *client) call(method, url, token, contentType string, body, answer any) {
	var data io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		must(err)
		data = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, url, data)
	must(err)
	request.Header["X-Idempotency-Key"] = nil // sent again, as in Python, if an idle connection was closed
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := c.http.Do(request)
	must(err)
	content, err := io.ReadAll(response.Body)
	must(err)
	response.Body.Close()
	if response.StatusCode >= 300 {
		log.Fatalf("%s %s: %d %s", method, url, response.StatusCode, content)
	}
	must(json.Unmarshal(content, answer))
}

func (c *client) user(path string, found object) {
	meta := found.Metadata
	var patched object
	c.call("PATCH", path+"/"+meta.Name, c.job.Token, "application/json-patch+json", []fields{
		{"op": "test", "path": "/metadata/uid", "value": meta.UID},
		{"op": "test", "path": "/metadata/resourceVersion", "value": meta.ResourceVersion},
		{"op": "add", "path": "/metadata/finalizers", "value": []string{finalizer}},
	}, &patched)
	mark := fmt.Sprintf("created benchmark default %s/%s %s", meta.Namespace, meta.Name, meta.UID)
	var made struct {
		Data   struct{ CreateUser struct{ ID, UUID string } }
		Errors []any
	}
	c.call("POST", c.job.Lldap+"/api/graphql", c.token, "application/json", fields{
		"query": createUser,
		"variables": fields{"user": fields{
			"id": found.Spec.Username, "email": found.Spec.Email, "displayName": found.Spec.DisplayName,
			"attributes": []fields{{"name": "kubernetes-owner", "value": []string{mark}}},
		}},
	}, &made)
	if made.Errors != nil {
		log.Fatal(made.Errors)
	}
	var applied fields
	c.call("PATCH", path+"/"+meta.Name+"/status?fieldManager=lldap-operator&force=true", c.job.Token,
		"application/apply-patch+yaml", fields{
			"apiVersion": apiVersion, "kind": "LldapUser",
			"metadata": fields{"name": meta.Name, "resourceVersion": patched.Metadata.ResourceVersion},
			"status": fields{
				"userId": made.Data.CreateUser.ID, "uuid": made.Data.CreateUser.UUID, "origin": "Created",
				"instance": "default", "observedGeneration": meta.Generation,
				"conditions": []fields{{
					"type": "Ready", "status": "True", "reason": "Verified",
					"message": "it is in lldap as declared", "observedGeneration": meta.Generation,
					"lastTransitionTime": time.Now().UTC().Format("2006-01-02T15:04:05Z"),
				}},
			},
		}, &applied)
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	must(err)
	var todo job
	must(json.Unmarshal(text, &todo))
	authority, err := os.ReadFile(todo.CA)
	must(err)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	c := &client{job: todo, http: &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: trusted},
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1
		MaxIdleConnsPerHost: todo.Threads,
		MaxConnsPerHost:     todo.Threads,
	}}}
	var login struct{ Token string }
	c.call("POST", todo.Lldap+"/auth/simple/login", "", "application/json",
		fields{"username": "admin", "password": todo.Password}, &login)
	c.token = login.Token
	path := todo.API + "/apis/" + apiVersion + "/namespaces/" + todo.Namespace + "/lldapusers"
	var list struct{ Items []object }
	c.call("GET", path, todo.Token, "application/json", nil, &list)
	work := make(chan object)
	var workers sync.WaitGroup
	for range todo.Threads {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for found := range work {
				c.user(path, found)
			}
		}()
	}
	for _, found := range list.Items {
		work <- found
	}
	close(work)
	workers.Wait()
}
