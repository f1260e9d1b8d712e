// Takes and releases locks with etcd's own concurrency.Mutex, as told on standard input, one
// command a line.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

type lock struct {
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

var locks = map[string]lock{}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func acquire(client *clientv3.Client, name, ttl, patience string) string {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(number(ttl)))
	if err != nil {
		panic(err)
	}
	mutex := concurrency.NewMutex(session, name)
	wait := time.Duration(number(patience)) * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if wait == 0 {
		err = mutex.TryLock(context.Background())
	} else {
		err = mutex.Lock(ctx)
	}
	if err != nil {
		session.Close()
		return "busy"
	}
	locks[name] = lock{session, mutex}
	return "acquired"
}

func release(name string) string {
	held := locks[name]
	delete(locks, name)
	err := held.mutex.Unlock(context.Background())
	held.session.Close()
	if err != nil {
		return "lost"
	}
	return "released"
}

func run(client *clientv3.Client, words []string) string {
	if words[0] == "acquire" {
		return acquire(client, words[1], words[2], words[3])
	}
	return release(words[1])
}

func main() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}})
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(run(client, strings.Fields(lines.Text())))
	}
}
