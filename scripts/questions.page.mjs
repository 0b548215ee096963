/** A page for the test of `openInChromium`: counts its questions and fetches what it is asked for. */
let count = 0;

export async function run({ request: { fetch: address, fail } }) {
  count++;
  if (fail !== undefined) throw new Error(fail);
  const response = await fetch(address);
  return { count, status: response.status, text: response.ok ? await response.text() : '' };
}
