/** Letters and digits: a plain number or a plain word is not a hash. */
const mixed = '(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,12}'

/**
 * For places where only a hash is likely. One in thirty seven-character hashes consists only of digits, and no replay
 * should fail because of it.
 */
const short = `(?:${mixed}|[0-9]{7})`
const long = '[0-9a-f]{40}'
/** A hash alone on its line. The price: a seven-digit file size alone on a line is normalised too. */
const seven = '(?:(?=[a-f]*[0-9])[0-9a-f]{7})'

/**
 * Hashes of commits as git prints them, which depend on the time. Hashes of contents (`index`, `blob`, checksums) stay,
 * because the same content has the same hash.
 */
const ofCommits: readonly (readonly [pattern: RegExp, stands: string])[] = [
  // log --oneline, reflog, blame; not sha1sum, which has two spaces or a star.
  [new RegExp(`^\\^?(?:${short}|${long})(?= [^ *])`, 'gm'), '{commit}'],
  // rev-parse
  [new RegExp(`^(?:${long}|${seven})$`, 'gm'), '{commit}'],
  // log --graph
  [new RegExp(`^([*|\\\\/ ]*\\* +)${short}(?= \\S)`, 'gm'), '$1{commit}'],
  // branch -v
  [new RegExp(`^([*+ ] [\\w./-]+ +)${mixed}(?= \\S)`, 'gm'), '$1{commit}'],
  // worktree list
  [new RegExp(`^(\\S+ +)${short}(?= \\[)`, 'gm'), '$1{commit}'],
  // show-ref, ls-remote
  [new RegExp(`^${long}(?=[ \\t](?:refs/|HEAD\\b))`, 'gm'), '{commit}'],
  [
    /^((?:commit|parent|Merge:|HEAD is now at|Updating|Previous HEAD position was) ?)[0-9a-f]{7,40}\b/gm,
    '$1{commit}',
  ],
  [/((?:WIP on|On) [^\s:]+: |\(was |HEAD detached at |\bstash@\{\d+\} \()[0-9a-f]{7,40}\b/g, '$1{commit}'],
  // merge, push, pull
  [
    /^((?:Updating )? *[+*-]? *)(?:[0-9a-f]{7,12}|\{commit\})\.\.\.?[0-9a-f]{7,12}\b/gm,
    '$1{commit}..{commit}',
  ],
  // commit
  [new RegExp(`^(\\[[^\\]\\n]+ )${short}(?=\\])`, 'gm'), '$1{commit}'],
]

type Phrase = readonly [pattern: RegExp, stands: string]

/** In any text: what agents write about a session. */
const anywhere: readonly Phrase[] = [
  // Claude Code: the version stays, because a new one is a real difference; the rest is a checksum of the conversation.
  [/\bcc_version=(\d+\.\d+\.\d+)\.[0-9a-z]+/g, 'cc_version=$1'],
  [/ ?\bcch=[0-9a-f]+;?/g, ''],
  [/(\.claude\/projects\/)[^/\s"'`]+/g, '$1{name}'],
  [/<current_datetime>[^<]*<\/current_datetime>/g, '<current_datetime>{time}</current_datetime>'],
  [/\b(pid|process id)([ =:#]+)\d+/gi, '$1$2{pid}'],
  [/\b(duration_?ms|elapsed_?ms|durationMs|elapsedMs)("?[ =:]+)\d+(?:\.\d+)?/gi, '$1$2{duration}'],
  // Ports from the ephemeral range; ports such as 3000 or 8080 were chosen on purpose.
  [
    /\b(127\.0\.0\.1|localhost|\[::1\]):(?:3276[89]|327[7-9]\d|32[89]\d\d|3[3-9]\d{3}|[4-6]\d{4})(?!\d)(?:\/[A-Za-z0-9_-]{16,}(?![A-Za-z0-9_-]))?/g,
    '$1:{port}',
  ],
  [/\b(agentId: |SendMessage with to: ')[0-9a-z]{6,}/g, '$1{name}'],
  [/\b(running in (?:the )?background with ID: )[0-9A-Za-z_-]+/g, '$1{name}'],
  [/(\/tasks\/)[0-9a-z]{6,}(?=\.output)/g, '$1{name}'],
  [/(<task-id>)[^<]+(?=<)/g, '$1{name}'],
]

const environmentMarks =
  /^# Environment$|<env>|<environment_context>|<session_context>|^# gitStatus$|in the following environment/m

/** Only where an agent describes its machine: the same text in a task is part of the task. */
const ofEnvironment: readonly Phrase[] = [
  [
    /^([ \t]*[-*]?[ \t]*(?:Platform|OS Version|Operating System|Shell|Available tools|Is a git repository|Is directory a git repo|Today's date|Git user)):.*$/gm,
    '$1: {machine}',
  ],
  [/^(My operating system is:).*$/gm, '$1 {machine}'],
  [/^(Today's date is ).*$/gm, '$1{time}'],
  [/<(shell|timezone|current_date)>[^<]*<\/\1>/g, '<$1>{machine}</$1>'],
]

/** Where an agent lists commits. */
const ofHistory: Phrase = [/^[0-9a-f]{7,40}(?= \S)/gm, '{commit}']

/** In the output of a tool: numbers that no instruction depends on. */
const ofOutputs: readonly Phrase[] = [
  // Inodes, which can look like hashes.
  [/^ *\d+ +(?:\d+ +)?(?=[-dlbcps][-rwxsStT]{9})/gm, ''],
  ...ofCommits,
  [/^(Chunk ID: )[0-9a-f]+$/gm, '$1{name}'],
  // Copilot numbers the shells of parallel calls in the order in which they start.
  [/(<shellId: )\d+(?= completed )/g, '$1{name}'],
  // Codex gives its subagents random names.
  [/("agent_id":"[^"]*","nickname":")[^"]+/g, '$1{name}'],
  // The count includes the characters of paths.
  [/^(Original token count: )\d+$/gm, '$1{count}'],
  [/(?<![\w.])\d+m ?\d+(?:\.\d+)?s\b/g, '{duration}'],
  [
    /(?<![\w.-])\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?|mins?|minutes?)\b(?!-)/g,
    '{duration}',
  ],
  [/(?<=\bat )0x[0-9a-f]{6,16}\b/g, '{address}'],
  // Shell jobs.
  [/^(\[\d+\][+-]? +)\d+\b/gm, '$1{pid}'],
  [/\b(Device: \S+\s+Inode: )\d+/g, '$1{machine}'],
  // `uname -a`: host name and kernel.
  [/^(Linux|Darwin) \S+ \d+\.\d+\S* .*$/gm, '$1 {machine}'],
  // A directory listing: owner, links and the size of directories depend on the machine.
  [/^total \d+(?=\n[-dlbcps][-rwxsStT]{9})/gm, 'total {size}'],
  [/^(d[-rwxsStT]{9}[.+@]?) +\d+ +\S+ +\S+ +\d+ /gm, '$1 {owner} '],
  [/^([-lbcps][-rwxsStT]{9}[.+@]?) +\d+ +\S+ +\S+ +(\d+) /gm, '$1 {owner} $2 '],
  [/\btmp\.[A-Za-z0-9]{6,12}\b/g, 'tmp.{name}'],
  [/(\{tmp\}\/tmp)[a-z0-9_]{8}\b/g, '$1{name}'],
  [/\{time\}T\d\d_\d\d_\d\d_\d+Z/g, '{time}'],
  [/(\{tmp\}\/[\w.-]*?[-_.])(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6}\b/g, '$1{name}'],
]

export function hidePhrases(text: string, isOutput: boolean): string {
  const isEnvironment = environmentMarks.test(text)
  const phrases = [
    ...anywhere,
    ...(isEnvironment ? [...ofEnvironment, ofHistory] : []),
    ...(isOutput ? ofOutputs : []),
  ]
  return phrases.reduce((hidden, [pattern, stands]) => hidden.replace(pattern, stands), text)
}
