/** In an empty HOME there is no earlier session. */
export function resumeWarnings({
  resume,
  home,
}: {
  readonly resume?: string | undefined
  readonly home: 'isolated' | 'host'
}): readonly string[] {
  return resume === undefined || home === 'host'
    ? []
    : ['`resume` needs the session of an earlier run, and the HOME of a trial is empty: use `home: host`.']
}
