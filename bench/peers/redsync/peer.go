// Times redsync: one caller, and the hand-over from one client to another.
package main

import (
    "encoding/json"
    "fmt"
    "os"
    "sort"
    "strconv"
    "time"

    "github.com/go-redsync/redsync/v4"
    "github.com/go-redsync/redsync/v4/redis/goredis/v9"
    goredislib "github.com/redis/go-redis/v9"
)

func must(err error) {
    if err != nil {
        fmt.Fprintln(os.Stderr, err)
        os.Exit(1)
    }
}

func open(port string) *redsync.Redsync {
    client := goredislib.NewClient(&goredislib.Options{Addr: "127.0.0.1:" + port})
    return redsync.New(goredis.NewPool(client))
}

func mutexOf(locks *redsync.Redsync, name string) *redsync.Mutex {
    return locks.NewMutex(name, redsync.WithExpiry(30*time.Second), redsync.WithTries(100000),
        redsync.WithRetryDelay(time.Millisecond))
}

func at(samples []int64, share float64) int64 {
    sort.Slice(samples, func(a, b int) bool { return samples[a] < samples[b] })
    return samples[int(float64(len(samples))*share)]
}

func unlock(mutex *redsync.Mutex) {
    _, err := mutex.Unlock()
    must(err)
}

func main() {
    seconds, err := strconv.ParseFloat(os.Args[2], 64)
    must(err)
    giver, receiver := open(os.Args[1]), open(os.Args[1])
    var samples []int64
    for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
        begun := time.Now()
        mutex := mutexOf(giver, "go:one")
        must(mutex.Lock())
        unlock(mutex)
        samples = append(samples, time.Since(begun).Nanoseconds())
    }
    var handOvers []int64
    for i := 0; i < 200; i++ {
        held := mutexOf(giver, "go:turn")
        must(held.Lock())
        had := make(chan time.Time)
        go func() {
            mutex := mutexOf(receiver, "go:turn")
            must(mutex.Lock())
            hadAt := time.Now()
            unlock(mutex)
            had <- hadAt
        }()
        time.Sleep(5 * time.Millisecond)
        gaveAt := time.Now()
        unlock(held)
        handOvers = append(handOvers, (<-had).Sub(gaveAt).Nanoseconds())
    }
    must(json.NewEncoder(os.Stdout).Encode(map[string]any{
        "name": "redsync 4.8.1", "p50_ns": at(samples, 0.5), "p99_ns": at(samples, 0.99),
        "hand_over_p50_ns": at(handOvers, 0.5),
    }))
}
