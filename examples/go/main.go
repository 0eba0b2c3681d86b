// A scheduler of your own in Go: it reads decisions, verifies who signed them, carries each out once, and commits it.
//
//	go run . -brokers localhost:9092 -group my-scheduler -keys /etc/schedmate/signing-keys
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Decision holds what to do. Fields that are not named here are left out, so a later version with more fields is read, too.
type Decision struct {
	ID           string   `json:"id"`
	Action       string   `json:"action"`
	Job          string   `json:"job"`
	Node         string   `json:"node"`
	Attempt      int      `json:"attempt"`
	Incarnation  string   `json:"incarnation"`
	Time         float64  `json:"time"`
	Expires      float64  `json:"expires"`
	Mode         string   `json:"mode"`
	Policy       string   `json:"policy"`
	Reason       string   `json:"reason"`
	Cause        string   `json:"cause"`
	CauseID      string   `json:"cause_id"`
	ExcludeNodes []string `json:"exclude_nodes"`
	NodeEvidence bool     `json:"node_evidence"`
	Grace        float64  `json:"grace_s"`
	Checkpoint   string   `json:"checkpoint"`
	Beneficiary  string   `json:"beneficiary"`
	Signature    string   `json:"signature"`
}

// signedBytes returns the fields that say what to do, each as a netstring (docs/decisions.md, "Verifying a signature").
func signedBytes(d Decision) []byte {
	milliseconds := func(seconds float64) string { return strconv.FormatInt(int64(math.RoundToEven(seconds*1000)), 10) }
	evidence := "0"
	if d.NodeEvidence {
		evidence = "1"
	}
	fields := []string{
		"schedmate-decision-1", d.ID, d.Action, d.Job, d.Node, strconv.Itoa(d.Attempt), d.Incarnation, milliseconds(d.Time),
		milliseconds(d.Expires), d.Mode, d.Policy, d.Reason, d.Cause, d.CauseID, strconv.Itoa(len(d.ExcludeNodes)),
	}
	fields = append(fields, d.ExcludeNodes...)
	fields = append(fields, evidence, milliseconds(d.Grace), d.Checkpoint, d.Beneficiary)
	var text bytes.Buffer
	for _, field := range fields {
		fmt.Fprintf(&text, "%d:%s,", len(field), field)
	}
	return text.Bytes()
}

// verifies says whether one of the keys signed the decision. Without keys nothing is verified.
func verifies(d Decision, keys map[string]string) bool {
	if len(keys) == 0 {
		return true
	}
	id, digest, _ := strings.Cut(d.Signature, ":")
	secret, known := keys[id]
	said, err := hex.DecodeString(digest)
	if !known || err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(signedBytes(d))
	return hmac.Equal(said, mac.Sum(nil))
}

// readKeys reads lines of a key's id and secret; those that begin with # are left out.
func readKeys(file string) (map[string]string, error) {
	keys := map[string]string{}
	if file == "" {
		return keys, nil
	}
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	lines := bufio.NewScanner(opened)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 || len(words[1]) < 32 {
			return nil, errors.New("expected lines of an id and a secret of 32 characters at least")
		}
		keys[words[0]] = words[1]
	}
	if len(keys) == 0 {
		return nil, errors.New("expected signing keys, got none")
	}
	return keys, lines.Err()
}

// carryOut is where you ask your scheduler. Quotations (reason, evidence) are data: never put them into a command.
func carryOut(d Decision) {
	switch d.Action {
	case "restart":
		fmt.Printf("start %s again, away from %s\n", d.Job, strings.Join(d.ExcludeNodes, ", "))
	case "evict":
		fmt.Printf("stop %s and queue it again\n", d.Job)
	}
}

func main() {
	brokers := flag.String("brokers", "localhost:9092", "brokers, separated by commas")
	group := flag.String("group", "my-scheduler", "consumer group")
	keyFile := flag.String("keys", "", "file of signing keys")
	quiet := flag.Duration("quiet", 0, "end after so long without a decision; 0 waits for ever")
	flag.Parse()
	keys, err := readKeys(*keyFile)
	if err != nil {
		log.Fatal(err)
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(*brokers, ",")...),
		kgo.ConsumerGroup(*group),
		kgo.ConsumeTopics("decisions"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(), // committed by hand, once it is carried out
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	done := map[string]bool{} // a decision may come again, after a crash or a rebalance
	for {
		ctx, cancel := context.WithCancel(context.Background())
		if *quiet > 0 {
			ctx, cancel = context.WithTimeout(context.Background(), *quiet)
		}
		fetches := client.PollFetches(ctx)
		cancel()
		if errors.Is(fetches.Err0(), context.DeadlineExceeded) {
			return
		}
		fetches.EachError(func(topic string, _ int32, err error) { log.Printf("%s: %v", topic, err) })
		fetches.EachRecord(func(record *kgo.Record) {
			var d Decision
			if err := json.Unmarshal(record.Value, &d); err != nil {
				log.Printf("no decision at %d/%d: %v", record.Partition, record.Offset, err)
				return
			}
			switch {
			case d.Mode != "act" || float64(time.Now().Unix()) > d.Expires || done[d.ID]:
			case !verifies(d, keys):
				log.Printf("not signed by a key of ours: %q", d.ID)
			default:
				carryOut(d)
				done[d.ID] = true
			}
		})
		if err := client.CommitUncommittedOffsets(context.Background()); err != nil {
			log.Printf("not committed: %v", err)
		}
	}
}
