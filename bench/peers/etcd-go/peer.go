// Times etcd's own concurrency.Mutex: one caller, and the hand-over from one client to another.
package main

import (
    "context"
    "encoding/json"
    "fmt"
    "os"
    "sort"
    "strconv"
    "time"

    clientv3 "go.etcd.io/etcd/client/v3"
    "go.etcd.io/etcd/client/v3/concurrency"
)

func must(err error) {
    if err != nil {
        fmt.Fprintln(os.Stderr, err)
        os.Exit(1)
    }
}

func open(port string) *concurrency.Session {
    client, err := clientv3.New(clientv3.Config{
        Endpoints: []string{"127.0.0.1:" + port}, DialTimeout: 5 * time.Second})
    must(err)
    session, err := concurrency.NewSession(client, concurrency.WithTTL(30))
    must(err)
    return session
}

func at(samples []int64, share float64) int64 {
    sort.Slice(samples, func(a, b int) bool { return samples[a] < samples[b] })
    return samples[int(float64(len(samples))*share)]
}

func main() {
    seconds, err := strconv.ParseFloat(os.Args[2], 64)
    must(err)
    ctx := context.Background()
    giver, receiver := open(os.Args[1]), open(os.Args[1])
    var samples []int64
    one := concurrency.NewMutex(giver, "go/one")
    for end := time.Now().Add(time.Duration(seconds * 1e9)); time.Now().Before(end); {
        begun := time.Now()
        must(one.Lock(ctx))
        must(one.Unlock(ctx))
        samples = append(samples, time.Since(begun).Nanoseconds())
    }
    var handOvers []int64
    held := concurrency.NewMutex(giver, "go/turn")
    wanted := concurrency.NewMutex(receiver, "go/turn")
    for i := 0; i < 200; i++ {
        must(held.Lock(ctx))
        had := make(chan time.Time)
        go func() {
            must(wanted.Lock(ctx))
            hadAt := time.Now()
            must(wanted.Unlock(ctx))
            had <- hadAt
        }()
        time.Sleep(5 * time.Millisecond)
        gaveAt := time.Now()
        must(held.Unlock(ctx))
        handOvers = append(handOvers, (<-had).Sub(gaveAt).Nanoseconds())
    }
    must(json.NewEncoder(os.Stdout).Encode(map[string]any{
        "name": "concurrency.Mutex 3.5.9", "p50_ns": at(samples, 0.5), "p99_ns": at(samples, 0.99),
        "hand_over_p50_ns": at(handOvers, 0.5),
    }))
}
