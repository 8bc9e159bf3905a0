// One Go client in a process of its own: the lock of samuel/go-zookeeper, moved by lines on stdin.
// `acquire RECIPE PATH [LEASES]` returns with the lock, `ask` as soon as the client waits for it, `fail`
// when it has failed; each is answered by a line of JSON: which znodes it has, and whether it has the lock.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/samuel/go-zookeeper/zk"
)

type claim struct {
	lock  *zk.Lock
	holds int32
	fails int32
}

type answer struct {
	Session int64    `json:"session"`
	Holds   bool     `json:"holds"`
	Nodes   []string `json:"nodes"`
	Watches []string `json:"watches"`
	Listens []string `json:"listens"`
}

var claims = map[string]*claim{}

func main() {
	connection, events, err := zk.Connect([]string{os.Args[1]}, 30*time.Second, zk.WithLogInfo(false))
	check(err)
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	go func() {
		for range events {
		}
	}()
	say(connection, "/nowhere", &claim{})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		obey(connection, words[0], words[2])
	}
}

func obey(connection *zk.Conn, verb string, path string) {
	one, known := claims[path]
	if !known {
		one = &claim{lock: zk.NewLock(connection, path, zk.WorldACL(zk.PermAll))}
		claims[path] = one
	}
	switch verb {
	case "release":
		check(one.lock.Unlock())
		atomic.StoreInt32(&one.holds, 0)
	case "now":
	default:
		go one.take()
		for !one.hasSettled(connection, path, verb) {
			time.Sleep(2 * time.Millisecond)
		}
	}
	say(connection, path, one)
}

func (one *claim) take() {
	if one.lock.Lock() == nil {
		atomic.StoreInt32(&one.holds, 1)
	} else {
		atomic.StoreInt32(&one.fails, 1)
	}
}

// An `ask` is over when the node is there: the watch follows at once, which the caller asks the server for.
func (one *claim) hasSettled(connection *zk.Conn, path string, verb string) bool {
	isOver := atomic.LoadInt32(&one.holds) == 1 || atomic.LoadInt32(&one.fails) == 1
	return isOver || verb == "ask" && len(own(connection, path)) > 0
}

func own(connection *zk.Conn, path string) []string {
	found := []string{}
	names, _, err := connection.Children(path)
	if err != nil {
		return found
	}
	for _, name := range names {
		node := path + "/" + name
		if _, stat, err := connection.Exists(node); err == nil && stat.EphemeralOwner == connection.SessionID() {
			found = append(found, node)
		}
	}
	return found
}

func say(connection *zk.Conn, path string, one *claim) {
	found := answer{connection.SessionID(), atomic.LoadInt32(&one.holds) == 1, own(connection, path), []string{}, []string{}}
	text, err := json.Marshal(found)
	check(err)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
