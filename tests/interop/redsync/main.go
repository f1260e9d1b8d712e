// Takes and releases locks with redsync, as told on standard input, one command a line.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const retryEvery = 10 * time.Millisecond

var locks = map[string]*redsync.Mutex{}

func duration(seconds string) time.Duration {
	value, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(value * float64(time.Second))
}

func acquire(sync *redsync.Redsync, key, ttl, patience string) string {
	tries := 1 + int(duration(patience)/retryEvery)
	mutex := sync.NewMutex(key, redsync.WithExpiry(duration(ttl)), redsync.WithTries(tries),
		redsync.WithRetryDelay(retryEvery))
	if mutex.Lock() != nil {
		return "busy"
	}
	locks[key] = mutex
	return "acquired"
}

func answer(done bool, err error, word string) string {
	if err != nil || !done {
		return "lost"
	}
	return word
}

func run(sync *redsync.Redsync, words []string) string {
	if words[0] == "acquire" {
		return acquire(sync, words[1], words[2], words[3])
	}
	if words[0] == "extend" {
		done, err := locks[words[1]].Extend()
		return answer(done, err, "extended")
	}
	done, err := locks[words[1]].Unlock()
	return answer(done, err, "released")
}

func main() {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Args[1]})
	sync := redsync.New(goredis.NewPool(client))
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(run(sync, strings.Fields(lines.Text())))
	}
}
