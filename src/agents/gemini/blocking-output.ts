/**
 * Gemini CLI ends without waiting for what it has not yet written: of a long output the rest is lost, and the end of the
 * stream with it, unless the reader is fast enough. A NODE_OPTIONS under which it writes as a plain program does. The
 * commands it runs are given what was there before.
 */
export function blockingOutput(before: string | undefined): string {
  const restore =
    before === undefined
      ? 'delete process.env.NODE_OPTIONS'
      : `process.env.NODE_OPTIONS=${JSON.stringify(before)}`
  const code = `for(const s of[process.stdout,process.stderr])s._handle?.setBlocking?.(true);${restore}`
  const option = `--import=data:text/javascript,${encodeURIComponent(code)}`
  return before === undefined ? option : `${before} ${option}`
}
