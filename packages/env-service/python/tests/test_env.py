"""Tests against a running service of the task set `needle` at SACCADE_ENV_URL.

They run as part of the tests of the TypeScript package, or by hand:

    SACCADE_ENV_URL=http://127.0.0.1:8740 python -m unittest discover tests
"""

import os
import unittest
import warnings

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics

import saccade_env
from saccade_env import EnvServiceError, RgbImage, SaccadeEnv, UnicodeText

URL = os.environ["SACCADE_ENV_URL"]
TOKEN = os.environ.get("SACCADE_ENV_TOKEN")
LOOK = "<code>\n```python\nimage_clue_0.crop((0, 0, 56, 56)).show()\n```\n</code>"


def make(**options):
    return SaccadeEnv(URL, token=TOKEN, **options)


def answer(text):
    return f"<answer>\n\\boxed{{{text}}}\n</answer>"


class CheckEnv(unittest.TestCase):
    def test_passes_the_checker_of_gymnasium(self):
        env = make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_env(env, skip_close_check=True)
        env.close()

    def test_passes_it_when_made_by_name(self):
        made = gymnasium.make("Saccade/Remote-v0", url=URL, token=TOKEN, render_mode="rgb_array")
        check_env(made.unwrapped)
        made.close()


class Episodes(unittest.TestCase):
    def setUp(self):
        self.env = make()

    def tearDown(self):
        self.env.close()

    def test_shows_looks_and_pays(self):
        observation, info = self.env.reset(seed=3)
        self.assertIn(observation, self.env.observation_space)
        self.assertEqual(observation["images"][0].shape, (448, 448, 3))
        self.assertEqual(info["task_id"], "needle-train-000003")
        self.assertTrue(info["stop"])
        observation, reward, terminated, truncated, info = self.env.step(LOOK)
        self.assertIn(observation, self.env.observation_space)
        self.assertEqual(observation["images"][0].shape, (56, 56, 3))
        self.assertEqual((reward, terminated, truncated), (0.0, False, False))
        self.assertEqual(info["result"]["kind"], "ok")
        _, reward, terminated, truncated, info = self.env.step(answer("none"))
        self.assertEqual((terminated, truncated, info["is_correct"]), (True, False, False))
        self.assertAlmostEqual(reward, sum(info["reward_terms"].values()))
        self.assertEqual(info["stop_reason"], "answered")

    def test_says_when_a_budget_ran_out(self):
        self.env.reset(seed=1)
        for _ in range(5):
            _, _, terminated, truncated, info = self.env.step(LOOK)
        self.assertEqual((terminated, truncated, info["stop_reason"]), (False, True, "turnLimit"))

    def test_goes_on_with_other_tasks(self):
        _, first = self.env.reset(seed=5)
        ids = [self.env.reset()[1]["task_id"] for _ in range(3)]
        self.assertEqual(len({first["task_id"], *ids}), 4)
        other = make()
        other.reset(seed=5)
        self.assertEqual([other.reset()[1]["task_id"] for _ in range(3)], ids)
        other.close()

    def test_takes_held_out_tasks(self):
        held_out = make(split="heldOut")
        _, info = held_out.reset(seed=5)
        self.assertIn("heldOut", info["task_id"])
        held_out.close()

    def test_works_in_wrappers_and_vectors(self):
        env = RecordEpisodeStatistics(make())
        env.reset(seed=2)
        *_, info = env.step(answer("1"))
        self.assertEqual(info["episode"]["l"], 1)
        env.close()
        vector = gymnasium.vector.SyncVectorEnv([make, make])
        observations, _ = vector.reset(seed=[1, 2])
        self.assertEqual(len(observations["images"]), 2)
        vector.close()


class Mistakes(unittest.TestCase):
    def test_are_errors(self):
        env = make()
        with self.assertRaises(gymnasium.error.ResetNeeded):
            env.step("a")
        env.reset(seed=1)
        with self.assertRaises(gymnasium.error.InvalidAction):
            env.step(7)
        env.step(answer("1"))
        with self.assertRaises(EnvServiceError) as caught:
            env.step(answer("1"))
        self.assertEqual((caught.exception.status, caught.exception.code), (409, "episode"))
        env.close()
        env.close()
        with self.assertRaises(ValueError):
            SaccadeEnv("ftp://a.example")
        with self.assertRaises(ValueError):
            make(split="test")

    def test_of_the_network_are_errors(self):
        client = saccade_env.EnvClient("http://127.0.0.1:9", retries=0)
        with self.assertRaises(EnvServiceError) as caught:
            client.get("/health")
        self.assertEqual(caught.exception.code, "unreachable")


class Spaces(unittest.TestCase):
    def test_hold_what_they_sample(self):
        for space in (UnicodeText(9), RgbImage(30)):
            space.seed(1)
            for _ in range(20):
                self.assertIn(space.sample(), space)
        self.assertIn("日本", UnicodeText(9))
        self.assertNotIn("x" * 10, UnicodeText(9))
        self.assertNotIn(np.zeros((2, 2), np.uint8), RgbImage(30))
        self.assertNotIn(np.zeros((31, 2, 3), np.uint8), RgbImage(30))


if __name__ == "__main__":
    unittest.main()
