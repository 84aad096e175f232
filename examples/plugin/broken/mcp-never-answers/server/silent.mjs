// Reads everything, answers nothing, and ends when nobody speaks to it any more.
process.stdin.resume()
