/** Letters and digits: a number or a word is no hash. */
const mixed = '(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,12}'

/**
 * Where only a hash is likely. One in thirty of the usual seven characters has digits only, which no recording should fail of.
 */
const short = `(?:${mixed}|[0-9]{7})`
const long = '[0-9a-f]{40}'
/** Alone on its line. A file of seven digits of bytes that has grown is then not told by this line alone. */
const seven = '(?:(?=[a-f]*[0-9])[0-9a-f]{7})'

/**
 * Hashes of commits as git prints them: they hold the time. Those of contents (`index`, `blob`, checksums) stay, because the
 * same content has the same.
 */
export const ofCommits: readonly (readonly [pattern: RegExp, stands: string])[] = [
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
