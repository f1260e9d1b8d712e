module holdfast/peer

go 1.19

require (
    github.com/go-redsync/redsync/v4 v4.8.1
    github.com/redis/go-redis/v9 v9.0.2
)
